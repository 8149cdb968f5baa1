//! The struct that declares an endpoint.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ItemStruct;

use crate::{attribute::EndpointAttribute, diagnostics::Diagnostics, expand, validate};

/// Expands `#[mcp_endpoint]` on a struct. It is an endpoint even if the attribute has faults.
pub fn endpoint(span: Span, keys: TokenStream, mut structure: ItemStruct) -> TokenStream {
    let mut errors = Diagnostics::default();
    structure.attrs.retain(|attribute| {
        let repeated = attribute.path().segments.last().is_some_and(|last| last.ident == "mcp_endpoint");
        if repeated {
            errors.error(attribute.path(), "a struct is one endpoint: keep one `#[mcp_endpoint]`");
        }
        !repeated
    });
    let attribute = EndpointAttribute::read(span, keys, &mut errors);
    validate::endpoint(&attribute, &mut errors);
    let generics = &structure.generics;
    let declaration = if generics.params.is_empty() && generics.where_clause.is_none() {
        expand::declaration(&structure, &attribute, span)
    } else {
        errors.error(generics, "an endpoint is one type: remove its generic parameters");
        TokenStream::new()
    };
    let errors = errors.into_compile_errors();
    quote!(#structure #declaration #errors)
}
