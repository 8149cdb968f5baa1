//! One parameter: its inference, the assertions about its type, its default, and its way into the call.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::runtime::{Runtime, option};
use crate::{
    attribute::{DefaultValue, OperationKind, Source},
    operation::Operation,
    signature::{Parameter, at},
    validate,
};

/// A parameter with what its expansion needs to know.
pub struct Expansion<'a> {
    parameter: &'a Parameter,
    index: usize,
    kind: OperationKind,
    /// Whether the handler is an `async fn`.
    waits: bool,
    rt: &'a Runtime,
}

impl<'a> Expansion<'a> {
    /// The parameters of an operation whose types can be looked at.
    pub fn all(operation: &'a Operation<'_>) -> Vec<Self> {
        let Operation { kind, handler, runtime, .. } = operation;
        let parameters = handler.parameters.iter().enumerate();
        let usable =
            parameters.filter(|(_, parameter)| validate::unusable_parameter(&parameter.ty).is_none());
        let waits = handler.signature.asyncness.is_some();
        usable.map(|(index, parameter)| Self { parameter, index, kind: *kind, waits, rt: runtime }).collect()
    }

    /// The items that stand for the parameter. `variables` are those of a resource's URI, if they are known.
    pub fn items(&self, earlier: &[Self], variables: Option<&[String]>) -> TokenStream {
        let mut items = self.inference();
        items.extend([self.once(earlier), self.asking()]);
        // With `inject`, what an argument may be or have is an error of syntax.
        if self.parameter.attribute.source != Some(Source::Inject) {
            items.extend([self.default(), self.header_check(), self.argument_keys(), self.role(variables)]);
        }
        items
    }

    /// The statement that takes the parameter out of `arguments`.
    pub fn read(&self, arguments: &Ident) -> TokenStream {
        let (constant, local, name) = (self.constant(), self.local(), self.name());
        let default = option(self.parameter.attribute.default.as_ref().map(|_| self.default_function()));
        quote!(let #local = #constant.read(#arguments, #name, #default);)
    }

    /// The statement that waits for the value.
    pub fn resolve(&self, invocation: &Ident) -> TokenStream {
        let (constant, local) = (self.constant(), self.local());
        quote!(let #local = #constant.resolve(#local, &#invocation).await?;)
    }

    /// The local variable that holds the value. No name of the user's can meet it.
    pub fn local(&self) -> Ident {
        Ident::new(&format!("p{}", self.index), Span::mixed_site())
    }

    /// The expression of its `ParameterDescriptor`.
    pub fn descriptor(&self) -> TokenStream {
        let (constant, name, rt) = (self.constant(), self.name(), self.rt);
        let attribute = &self.parameter.attribute;
        let description = option(self.parameter.description.as_ref());
        let (title, header) = (option(attribute.title.as_ref()), option(attribute.header.as_ref()));
        let default = option(attribute.default.as_ref().map(|_| self.default_json()));
        quote! {
            #rt::ParameterDescriptor {
                name: #name,
                description: #description,
                title: #title,
                header: #header,
                default: #default,
                erased: #constant.erased(),
            }
        }
    }

    fn constant(&self) -> Ident {
        format_ident!("__P{}", self.index)
    }

    fn default_function(&self) -> Ident {
        format_ident!("__default{}", self.index)
    }

    fn default_json(&self) -> Ident {
        format_ident!("__default_json{}", self.index)
    }

    fn name(&self) -> String {
        self.parameter.name().unwrap_or_default()
    }

    /// `const __P0: Param<T> = …;`, where the compiler finds out what the parameter is; its errors are at the type.
    fn inference(&self) -> TokenStream {
        let (constant, ty) = (self.constant(), &self.parameter.ty);
        let span = ty.span();
        let rt = self.rt.at(span);
        let inferred = match (self.parameter.attribute.source, self.kind) {
            (Some(Source::Inject), _) => quote_spanned!(span=> injected::<#ty>()),
            (Some(Source::Argument), _) => quote_spanned!(span=> tool_argument::<#ty>()),
            (None, OperationKind::Tool) => quote_spanned!(span=> tool_parameter::<#ty, _>()),
            (None, OperationKind::Resource) => quote_spanned!(span=> resource_parameter::<#ty, _>()),
            (None, OperationKind::ResourceList) => quote_spanned!(span=> page_parameter::<#ty, _>()),
            (None, OperationKind::Prompt | OperationKind::Completion) => {
                quote_spanned!(span=> prompt_parameter::<#ty, _>())
            }
        };
        quote_spanned!(span=> const #constant: #rt::Param<#ty> = #rt::#inferred;)
    }

    /// The functions that make the default: as a value, and as JSON for the schema.
    fn default(&self) -> TokenStream {
        let Some((key, default)) = &self.parameter.attribute.default else {
            return TokenStream::new();
        };
        let ty = &self.parameter.ty;
        let span = match default {
            DefaultValue::OfType => key.span(),
            DefaultValue::Text(text) => text.span(),
            DefaultValue::Literal { value, .. } | DefaultValue::Expression(value) => value.span(),
        };
        let mut function = self.default_function();
        function.set_span(span);
        let value = match default {
            DefaultValue::OfType => quote_spanned!(span=> <#ty as ::core::default::Default>::default()),
            DefaultValue::Text(text) => quote_spanned!(span=> ::core::convert::Into::<#ty>::into(#text)),
            DefaultValue::Literal { value, .. } | DefaultValue::Expression(value) => quote!(#value),
        };
        let json = match default {
            DefaultValue::Text(text) => quote!(#text),
            DefaultValue::Literal { json, .. } => quote!(#json),
            DefaultValue::OfType | DefaultValue::Expression(_) => quote_spanned!(span=> #function()),
        };
        let function_json = self.default_json();
        let rt = self.rt.at(span);
        quote_spanned! {span=>
            fn #function() -> #ty {
                #value
            }
            fn #function_json() -> ::core::result::Result<#rt::Value, #rt::JsonError> {
                #rt::default_value(&#json)
            }
        }
    }

    fn header_check(&self) -> TokenStream {
        if self.parameter.attribute.header.is_none() {
            return TokenStream::new();
        }
        let ty = &self.parameter.ty;
        let rt = self.rt.at(ty.span());
        quote_spanned!(ty.span()=> const _: () = #rt::header_parameter::<#ty>();)
    }

    /// An injected value has no keys of an argument.
    fn argument_keys(&self) -> TokenStream {
        let Some((key, span)) = self.parameter.argument_key() else {
            return TokenStream::new();
        };
        let constant = self.constant();
        assertion(
            span,
            &quote!(!#constant.injected),
            &format!("an injected value is no argument: remove `{key}`"),
        )
    }

    /// Some values are injected once a handler.
    fn once(&self, earlier: &[Self]) -> TokenStream {
        if earlier.is_empty() {
            return TokenStream::new();
        }
        let (constant, rt) = (self.constant(), self.rt);
        let earlier = earlier.iter().map(Self::constant);
        let condition = quote!(#rt::is_first(#constant.slot, &[#(#earlier.slot),*]));
        assertion(
            self.parameter.ty.span(),
            &condition,
            "the handler takes this already: remove this parameter",
        )
    }

    /// Who may ask the client.
    fn asking(&self) -> TokenStream {
        let message = match self.kind {
            OperationKind::ResourceList | OperationKind::Completion => {
                "only tools, resources and prompts may ask the client: remove this parameter"
            }
            _ if !self.waits => "asking waits for the client: make this an `async fn`",
            _ => return TokenStream::new(),
        };
        let constant = self.constant();
        assertion(self.parameter.ty.span(), &quote!(!#constant.slot.asks()), message)
    }

    /// What a parameter of this name, or without one, can be.
    fn role(&self, variables: Option<&[String]>) -> TokenStream {
        let constant = self.constant();
        let injected = quote!(#constant.injected);
        let (condition, message) = match (self.kind, self.parameter.name(), variables) {
            (OperationKind::ResourceList, Some(name), _) if name == "cursor" => return TokenStream::new(),
            (OperationKind::ResourceList, ..) => (
                injected,
                "the only argument of a resource list is its cursor: name this `cursor`".to_owned(),
            ),
            (_, None, _) => {
                let rt = self.rt;
                let whole = quote!(::core::matches!(#constant.slot, #rt::Slot::Arguments));
                (
                    quote!(#injected || #whole),
                    "an argument needs a name: write `#[mcp(rename = \"…\")]` before it".to_owned(),
                )
            }
            (OperationKind::Resource, Some(name), Some(variables)) if variables.contains(&name) => (
                quote!(!#injected),
                format!(
                    "`{{{name}}}` of the URI can't be injected: take a `String`, or rename one of the two"
                ),
            ),
            (OperationKind::Resource, Some(name), Some(_)) if self.parameter.attribute.rename.is_none() => (
                injected,
                format!("`uri` has no variable `{{{name}}}`: write it there, or remove this parameter"),
            ),
            _ => return TokenStream::new(),
        };
        assertion(self.parameter.pattern.span(), &condition, &message)
    }
}

/// A rule that only the compiler can check; its error is at `span`.
fn assertion(span: Span, condition: &TokenStream, message: &str) -> TokenStream {
    let condition = at(condition, span);
    // The message of `assert!` is a format string.
    let message = message.replace('{', "{{").replace('}', "}}");
    quote_spanned!(span=> const _: () = ::core::assert!(#condition, #message);)
}
