//! The endpoint that a struct declares.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{ItemStruct, Path, ext::IdentExt, spanned::Spanned};

use super::runtime::{Runtime, description, option};
use crate::{attribute::EndpointAttribute, docs};

/// Declares the endpoint. Values that are missing are empty: that is an error already, and who names the struct
/// shall not have another one.
pub fn declaration(item: &ItemStruct, attribute: &EndpointAttribute, span: Span) -> TokenStream {
    let rt = Runtime::new(attribute.runtime.as_ref());
    let ident = &item.ident;
    let conditions: Vec<_> = item.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect();
    let [path, name, version] = [&attribute.path, &attribute.name, &attribute.version]
        .map(|text| text.as_ref().map_or_else(|| "".to_token_stream(), ToTokens::to_token_stream));
    let [title, website_url, instructions] =
        [&attribute.title, &attribute.website_url, &attribute.instructions].map(|text| option(text.as_ref()));
    let description = description(attribute.description.as_ref(), docs::description(&item.attrs).as_ref());
    let icons = rt.icons(&attribute.icons);
    let revisions = attribute.revisions.iter().map(|revision| format_ident!("{}", revision.0));
    let changes = attribute.changes.iter().map(|change| format_ident!("{}", change.0));
    let subscribable = attribute.subscribable.as_ref().map(|path| {
        // Named, so that a function of another signature is told at its path, and of nothing else.
        quote_spanned!(path.span()=> { let accepts: fn(&str) -> bool = #path; accepts })
    });
    let subscribable = option(subscribable);
    let cache = rt.cache(attribute.cache);
    let extra_arguments = rt.extra_arguments(attribute.extra_arguments);
    let origin = rt.origin(span, &ident.unraw().to_string());
    let construct = option(item.fields.is_empty().then(|| quote!(|| #rt::new_instance(#ident {}))));
    quote! {
        #(#conditions)*
        #[allow(unused_qualifications, deprecated)]
        const _: () = {
            const __DESCRIPTOR: &#rt::EndpointDescriptor = &#rt::EndpointDescriptor {
                id: #rt::EndpointId::of_type::<#ident>(),
                path: #path,
                name: #name,
                version: #version,
                title: #title,
                description: #description,
                website_url: #website_url,
                instructions: #instructions,
                icons: #icons,
                revisions: &[#(#rt::Revision::#revisions),*],
                cache: #cache,
                extra_arguments: #extra_arguments,
                changes: &[#(#rt::ChangeKind::#changes),*],
                subscribable: #subscribable,
                origin: #origin,
                construct: #construct,
            };
            impl #rt::DeclaredEndpoint for #ident {
                const DESCRIPTOR: &'static #rt::EndpointDescriptor = __DESCRIPTOR;
            }
            #rt::inventory::submit! { #rt::Registration::Endpoint(__DESCRIPTOR) }
        };
    }
}

/// Checks that the type of an `impl` block is an endpoint, even if no method is annotated.
pub fn mention(this: &Path, runtime: &Runtime) -> TokenStream {
    let span = this.span();
    let rt = runtime.at(span);
    quote_spanned!(span=> const _: #rt::EndpointId = #rt::endpoint_id::<#this>();)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use crate::{
        item,
        testing::{errors, text},
    };

    #[test]
    fn a_unit_struct_is_constructed() {
        let keys = quote! {
            path = "/mcp", name = "catalog", version = "1.0.0", revisions("2026-07-28"), ttl = "1h", scope = "public",
            changes(tools, updates), subscribable = heard
        };
        let expansion = text(item::endpoint(
            keys,
            &quote! {
                /// Spare parts.
                struct Catalog;
            },
        ));
        for part in [
            "impl::mcp_runtime::__private::DeclaredEndpointforCatalog{",
            "path:\"/mcp\"",
            "description:::core::option::Option::Some(\"Spareparts.\")",
            "revisions:&[::mcp_runtime::__private::Revision::V2026_07_28]",
            "ttl_ms:3600000u64",
            "changes:&[::mcp_runtime::__private::ChangeKind::Tools,::mcp_runtime::__private::ChangeKind::Updates]",
            "accepts:fn(&str)->bool=heard;",
            "Some(||::mcp_runtime::__private::new_instance(Catalog{}))",
            "Registration::Endpoint(__DESCRIPTOR)",
        ] {
            assert!(expansion.contains(part), "no `{part}` in {expansion}");
        }
    }

    #[test]
    fn a_struct_with_fields_is_handed_over() {
        let keys = quote!(path = "/mcp", name = "catalog", version = "1.0.0");
        let expansion = text(item::endpoint(
            keys,
            &quote!(
                struct Catalog {
                    stock: Stock,
                }
            ),
        ));
        assert!(expansion.contains("construct:::core::option::Option::None"), "{expansion}");
    }

    #[test]
    fn a_faulty_endpoint_is_one_all_the_same() {
        let expansion = item::endpoint(
            quote!(path = "mcp", name = "catalog"),
            &quote!(
                struct Catalog;
            ),
        );
        assert!(expansion.to_string().contains("DeclaredEndpoint for Catalog"));
        let found = errors(expansion);
        assert!(found.len() == 2 && found[0].contains("needs `version`"), "{found:?}");
    }
}
