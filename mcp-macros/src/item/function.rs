//! A free function that is an operation.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{ItemFn, TraitItemFn};

use super::{describe, one_operation, own_parameters, refused};
use crate::{
    attribute::{OperationAttribute, OperationKind},
    diagnostics::Diagnostics,
    expand::Runtime,
    operation::Operation,
    signature::{Annotations, Handler},
};

/// Expands an attribute of an operation, wherever it stands.
pub fn operation(kind: OperationKind, keys: TokenStream, item: &TokenStream) -> TokenStream {
    match syn::parse2(item.clone()) {
        Ok(function) => free(kind, Span::call_site(), keys, function),
        Err(_) => misplaced(kind, item),
    }
}

fn free(kind: OperationKind, span: Span, keys: TokenStream, mut function: ItemFn) -> TokenStream {
    let mut errors = Diagnostics::default();
    one_operation(kind, &mut function.attrs, &mut errors);
    own_parameters(&function.sig, &mut function.attrs);
    let annotations = Annotations::strip(&mut function.sig);
    let attribute = OperationAttribute::read(kind, span, keys, &mut errors);
    let runtime = Runtime::new(attribute.as_ref().and_then(|attribute| attribute.runtime.as_ref()));
    let ItemFn { attrs, sig, block, .. } = &function;
    let handler = Handler::read(kind, attrs, sig, block, &annotations, None, &mut errors);
    let expansion = Operation { kind, attribute, span, handler, this: None, runtime }.expand(errors);
    quote!(#function #expansion)
}

fn misplaced(kind: OperationKind, item: &TokenStream) -> TokenStream {
    let attribute = kind.attribute();
    if let Ok(mut method) = syn::parse2::<TraitItemFn>(item.clone()) {
        Annotations::strip(&mut method.sig);
        let name = method.sig.ident.to_token_stream();
        let message =
            format!("`#[{attribute}]` needs a function with a body: annotate the one in an `impl` block");
        return refused(&method.into_token_stream(), name, &message);
    }
    let (what, place) = describe(syn::parse2(item.clone()).ok(), item);
    let instead = match what {
        "an `impl` block" => ": put `#[mcp_endpoint]` there, and this on its methods",
        _ => "",
    };
    refused(item, place, &format!("`#[{attribute}]` belongs on a function, not on {what}{instead}"))
}
