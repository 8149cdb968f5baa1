//! One operation: the items that a function is registered by.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{ext::IdentExt, spanned::Spanned};

use super::{
    kind::kind,
    parameter::Expansion,
    runtime::{description, option},
    start::start,
};
use crate::{
    attribute::{OperationAttribute, OperationKeys, OperationKind, ToolKeys},
    operation::Operation,
    signature::resolve,
    validate,
};

/// The registration of an operation.
pub fn operation(operation: &Operation<'_>, attribute: &OperationAttribute) -> TokenStream {
    let parameters = Expansion::all(operation);
    let types = types(operation, &parameters);
    let start = start(operation, &parameters);
    let descriptor = descriptor(operation, attribute);
    let parameters = parameters.iter().map(Expansion::descriptor);
    let rt = &operation.runtime;
    let items = quote! {
        #types
        #start
        const __PARAMETERS: &[#rt::ParameterDescriptor] = &[#(#parameters),*];
        #rt::inventory::submit! { #rt::Registration::Operation(&#descriptor) }
    };
    enclosed(operation, &items)
}

/// What can be checked of the types of an operation whose syntax is at fault.
pub fn checks(operation: &Operation<'_>) -> TokenStream {
    let is_stray_method = operation.this.is_none() && operation.handler.receiver().is_some();
    if is_stray_method || !operation.handler.signature.generics.params.is_empty() {
        return TokenStream::new();
    }
    enclosed(operation, &types(operation, &Expansion::all(operation)))
}

/// A constant of its own around the items.
fn enclosed(operation: &Operation<'_>, items: &TokenStream) -> TokenStream {
    let conditions = &operation.handler.conditions;
    // An `impl` block takes no `const _`: with a name, the only error about an attribute in an `impl` block that is
    // no endpoint's is at the function's name.
    let name = match operation.this {
        Some(_) => quote!(_),
        None => {
            let name = format_ident!("__mcp_{}", operation.handler.signature.ident.unraw());
            quote!(#name)
        }
    };
    quote! {
        #(#conditions)*
        #[allow(non_upper_case_globals, unused_qualifications, deprecated)]
        const #name: () = { #items };
    }
}

/// The items by which the compiler checks every type, each at its place.
fn types(operation: &Operation<'_>, parameters: &[Expansion<'_>]) -> TokenStream {
    let variables = variables(operation);
    let items = parameters
        .iter()
        .enumerate()
        .map(|(at, parameter)| parameter.items(&parameters[..at], variables.as_deref()));
    let output = output(operation);
    let endpoint = endpoint(operation);
    let input_schema = input_schema(operation);
    quote!(#(#items)* #output #endpoint #input_schema)
}

/// The variables of a resource's URI, if they can be told.
fn variables(operation: &Operation<'_>) -> Option<Vec<String>> {
    match &operation.attribute.as_ref()?.keys {
        OperationKeys::Resource(keys) => validate::variables(&keys.uri.value()),
        _ => None,
    }
}

/// `const __R: Return<R> = …;`, with errors at the return type.
fn output(operation: &Operation<'_>) -> TokenStream {
    if !validate::unusable_output(operation).is_empty() {
        return TokenStream::new();
    }
    let output = &operation.handler.output;
    let span = output.span();
    let rt = operation.runtime.at(span);
    let function = match operation.kind {
        OperationKind::Tool => quote_spanned!(span=> tool_return),
        OperationKind::Resource => quote_spanned!(span=> resource_return),
        OperationKind::ResourceList => quote_spanned!(span=> page_return),
        OperationKind::Prompt => quote_spanned!(span=> prompt_return),
        OperationKind::Completion => quote_spanned!(span=> completion_return),
    };
    quote_spanned!(span=> const __R: #rt::Return<#output> = #rt::#function::<#output>();)
}

/// `const __ENDPOINT: EndpointRef = …;`, with errors at the type that is none.
fn endpoint(operation: &Operation<'_>) -> TokenStream {
    let rt = &operation.runtime;
    let named = operation.attribute.as_ref().and_then(|attribute| attribute.endpoint.as_ref());
    match operation.this.or(named) {
        Some(path) => {
            let span = path.span();
            let rt = rt.at(span);
            quote_spanned!(span=> const __ENDPOINT: #rt::EndpointRef = #rt::EndpointRef::Type(#rt::endpoint_id::<#path>());)
        }
        None => quote!(const __ENDPOINT: #rt::EndpointRef = #rt::EndpointRef::CrateDefault;),
    }
}

/// `const __INPUT_SCHEMA: fn() -> Value = …;`, with errors at the path.
fn input_schema(operation: &Operation<'_>) -> TokenStream {
    let Some(OperationKeys::Tool(ToolKeys { input_schema: Some(path), .. })) =
        operation.attribute.as_ref().map(|attribute| &attribute.keys)
    else {
        return TokenStream::new();
    };
    let path = resolve(path, operation.this);
    let rt = operation.runtime.at(path.span());
    quote_spanned!(path.span()=> const __INPUT_SCHEMA: fn() -> #rt::Value = #path;)
}

/// The expression of the `OperationDescriptor`.
fn descriptor(operation: &Operation<'_>, attribute: &OperationAttribute) -> TokenStream {
    let Operation { handler, runtime: rt, .. } = operation;
    let function = handler.signature.ident.unraw().to_string();
    let kind = kind(&attribute.keys, rt);
    let name = attribute.name.as_ref().map_or_else(|| function.clone(), syn::LitStr::value);
    let title = option(attribute.title.as_ref());
    let description = description(attribute.description.as_ref(), handler.description.as_ref());
    let icons = rt.icons(&attribute.icons);
    let origin = rt.origin(operation.span, &function);
    let timeout = option(attribute.timeout.as_ref().map(|(milliseconds, _)| milliseconds));
    let [requires, asks] = [attribute.requires, attribute.asks].map(|named| rt.capabilities(named));
    let cache = rt.cache(attribute.cache);
    let takes_instance = handler.receiver().is_some();
    quote! {
        #rt::OperationDescriptor {
            kind: #kind,
            name: #name,
            title: #title,
            description: #description,
            icons: #icons,
            endpoint: __ENDPOINT,
            origin: #origin,
            parameters: __PARAMETERS,
            timeout_ms: #timeout,
            requires: #requires,
            asks: #asks,
            cache: #cache,
            takes_instance: #takes_instance,
            start: __start,
        }
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use crate::{attribute::OperationKind, item, testing::text};

    fn expanded(kind: OperationKind, keys: TokenStream, function: &TokenStream) -> String {
        text(item::operation(kind, keys, function))
    }

    fn has(expansion: &str, parts: &[&str]) {
        for part in parts {
            assert!(expansion.contains(part), "no `{part}` in {expansion}");
        }
    }

    #[test]
    fn a_free_function_stays_as_it_is() {
        let function = quote! {
            #[tracing::instrument]
            pub async fn search(
                /// Text to look for.
                query: String,
                #[mcp(default = 10)]
                #[allow(unused)]
                mut limit: u32,
                State(stock): State<Stock>,
            ) -> String {
                query
            }
        };
        let expansion = expanded(OperationKind::Tool, quote!(), &function);
        let kept = "#[tracing::instrument]pubasyncfnsearch(query:String,#[allow(unused)]mutlimit:u32,\
                    State(stock):State<Stock>,)->String{query}";
        assert!(expansion.starts_with(kept), "{expansion}");
        has(
            &expansion,
            &[
                "const__mcp_search:()={",
                "const__P0:::mcp_runtime::__private::Param<String>=::mcp_runtime::__private::tool_parameter::<String,_>();",
                "letp0=__P0.read(arguments,\"query\",::core::option::Option::None);",
                "letp1=__P1.read(arguments,\"limit\",::core::option::Option::Some(__default1));",
                "letp2=__P2.read(arguments,\"\",::core::option::Option::None);",
                "fn__default1()->u32{10}",
                "default_value(&10u64)",
                "letoutput=search(p0,p1,p2).await;",
                "description:::core::option::Option::Some(\"Texttolookfor.\")",
                "endpoint:__ENDPOINT",
                "EndpointRef::CrateDefault",
            ],
        );
    }

    #[test]
    fn a_plain_function_runs_on_the_blocking_pool() {
        let expansion = expanded(
            OperationKind::Tool,
            quote!(),
            &quote!(
                fn search(query: String) {}
            ),
        );
        has(&expansion, &["blocking(&invocation,move||search(p0)).await?", "tool_return::<()>()"]);
    }

    #[test]
    fn keys_stand_in_the_descriptor() {
        let keys = quote! {
            endpoint = shop::Catalog, name = "find.parts", title = "Find", description = "Finds.", read_only,
            destructive = false, timeout = "2m", requires(sampling, roots), asks(elicitation), extra_arguments = "ignore",
            input_schema = schema, icons("https://a.b/c.png"), crate = my::mcp
        };
        let expansion = expanded(
            OperationKind::Tool,
            keys,
            &quote!(
                async fn search() {}
            ),
        );
        has(
            &expansion,
            &[
                "EndpointRef::Type(my::mcp::__private::endpoint_id::<shop::Catalog>())",
                "name:\"find.parts\"",
                "title:::core::option::Option::Some(\"Find\")",
                "description:::core::option::Option::Some(\"Finds.\")",
                "read_only:::core::option::Option::Some(true)",
                "destructive:::core::option::Option::Some(false)",
                "idempotent:::core::option::Option::None",
                "timeout_ms:::core::option::Option::Some(120000u64)",
                "requires:my::mcp::__private::Capabilities{sampling:true,sampling_tools:false,elicitation:false,elicitation_url:false,roots:true}",
                "asks:my::mcp::__private::Capabilities{sampling:false,sampling_tools:false,elicitation:true,elicitation_url:false,roots:false}",
                "ExtraArguments::Ignore",
                "const__INPUT_SCHEMA:fn()->my::mcp::__private::Value=schema;",
                "src:\"https://a.b/c.png\"",
                "my::mcp::__private::origin!(\"search\")",
            ],
        );
        assert!(!expansion.contains("mcp_runtime"), "{expansion}");
    }

    #[test]
    fn other_kinds_have_their_own_parts() {
        let keys =
            quote!(uri = "catalog://parts/{id}", mime_type = "text/plain", ttl = "30s", scope = "public");
        let function = quote!(
            async fn part(id: String, cancellation: CancellationToken) -> Text {}
        );
        let expansion = expanded(OperationKind::Resource, keys, &function);
        has(
            &expansion,
            &[
                "resource_parameter::<String,_>()",
                "assert!(!__P0.injected",
                "assert!(__P1.injected",
                "uri:\"catalog://parts/{id}\"",
                "CacheDescriptor{ttl_ms:30000u64,scope:::mcp_runtime::__private::Scope::Public}",
            ],
        );
        let function = quote!(
            async fn parts(cursor: Option<String>, State(s): State<S>) -> ResourcePage {}
        );
        let expansion = expanded(OperationKind::ResourceList, quote!(), &function);
        has(&expansion, &["page_parameter::<Option<String>,_>()", "assert!(__P1.injected", "page_return"]);
        let expansion = expanded(
            OperationKind::Prompt,
            quote!(),
            &quote!(
                fn greet(name: String) -> String {}
            ),
        );
        has(&expansion, &["prompt_parameter::<String,_>()", "OperationKind::Prompt", "prompt_return"]);
        let keys = quote!(resource = "a://{id}", argument = "id");
        let function = quote!(
            async fn ids(value: String) -> Vec<String> {}
        );
        let expansion = expanded(OperationKind::Completion, keys, &function);
        has(
            &expansion,
            &["CompletionTarget::Resource(\"a://{id}\")", "argument:\"id\"", "completion_return"],
        );
    }

    #[test]
    fn defaults_of_all_kinds() {
        let function = quote! {
            async fn search(
                #[mcp(default)] a: Filter,
                #[mcp(default = "x")] b: String,
                #[mcp(default = -3)] c: i8,
                #[mcp(default = Color::Red)] d: Color,
                #[mcp(default = 1.5)] e: f32,
                #[mcp(default = false)] f: bool,
            ) {}
        };
        let expansion = expanded(OperationKind::Tool, quote!(), &function);
        has(
            &expansion,
            &[
                "fn__default0()->Filter{<Filteras::core::default::Default>::default()}",
                "default_value(&__default0())",
                "fn__default1()->String{::core::convert::Into::<String>::into(\"x\")}",
                "default_value(&\"x\")",
                "fn__default2()->i8{-3}",
                "default_value(&-3i64)",
                "default_value(&__default3())",
                "default_value(&1.5)",
                "default_value(&false)",
            ],
        );
    }

    #[test]
    fn conditions_guard_the_registration() {
        let function = quote!(
            #[cfg(feature = "x")]
            #[inline]
            async fn search() {}
        );
        let expansion = expanded(OperationKind::Tool, quote!(), &function);
        has(&expansion, &["{}#[cfg(feature=\"x\")]#[allow("]);
    }

    #[test]
    fn faulty_syntax_does_not_hide_types() {
        let function = quote!(
            async fn search(a: &str, b: Reporter, #[mcp(hedaer = "A")] c: u8) -> String {}
        );
        let expansion = item::operation(OperationKind::Tool, quote!(timeout = "soon"), &function);
        let text = expansion.to_string().replace(char::is_whitespace, "");
        has(
            &text,
            &["tool_parameter::<Reporter,_>()", "tool_parameter::<u8,_>()", "tool_return::<String>()"],
        );
        assert!(!text.contains("__P0") && !text.contains("submit"), "{text}");
        assert_eq!(crate::testing::errors(expansion).len(), 3);
    }

    #[test]
    fn borrowed_text_is_owned_outside_the_function() {
        let function = quote!(
            async fn search(#[mcp(default = "x")] a: Cow<'_, str>) {}
        );
        let expansion = expanded(OperationKind::Tool, quote!(), &function);
        has(&expansion, &["asyncfnsearch(a:Cow<'_,str>)", "fn__default0()->Cow<'static,str>"]);
    }
}
