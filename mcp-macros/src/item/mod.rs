//! The items that attributes stand on: which they may be, and what becomes of them.

mod block;
mod form;
mod function;
mod structure;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Item, Signature, parse_quote};

pub use self::{form::form, function::operation};
use crate::{attribute::OperationKind, diagnostics::Diagnostics};

/// Expands `#[mcp_endpoint]`.
pub fn endpoint(keys: TokenStream, item: &TokenStream) -> TokenStream {
    match syn::parse2(item.clone()) {
        Ok(Item::Struct(structure)) => structure::endpoint(Span::call_site(), keys, structure),
        Ok(Item::Impl(block)) => block::endpoint(Span::call_site(), keys, block),
        other => {
            let (what, place) = describe(other.ok(), item);
            let message = format!("`#[mcp_endpoint]` belongs on a struct or its `impl` block, not on {what}");
            refused(item, place, &message)
        }
    }
}

/// The item as it was, with one error.
fn refused(item: &TokenStream, place: TokenStream, message: &str) -> TokenStream {
    let mut errors = Diagnostics::default();
    errors.error(place, message);
    let errors = errors.into_compile_errors();
    quote!(#item #errors)
}

/// What an item is called, and the tokens to underline.
fn describe(item: Option<Item>, tokens: &TokenStream) -> (&'static str, TokenStream) {
    match item {
        Some(Item::Const(item)) => ("a constant", item.ident.into_token_stream()),
        Some(Item::Enum(item)) => ("an enum", item.ident.into_token_stream()),
        Some(Item::Fn(item)) => ("a function", item.sig.ident.into_token_stream()),
        Some(Item::ForeignMod(item)) => ("an `extern` block", item.abi.into_token_stream()),
        Some(Item::Impl(item)) => ("an `impl` block", item.impl_token.into_token_stream()),
        Some(Item::Macro(item)) => ("a macro call", item.mac.path.into_token_stream()),
        Some(Item::Mod(item)) => ("a module", item.ident.into_token_stream()),
        Some(Item::Static(item)) => ("a static", item.ident.into_token_stream()),
        Some(Item::Struct(item)) => ("a struct", item.ident.into_token_stream()),
        Some(Item::Trait(item)) => ("a trait", item.ident.into_token_stream()),
        Some(Item::Type(item)) => ("a type alias", item.ident.into_token_stream()),
        Some(Item::Union(item)) => ("a union", item.ident.into_token_stream()),
        Some(Item::Use(item)) => ("an import", item.use_token.into_token_stream()),
        _ => ("this item", tokens.clone()),
    }
}

/// Removes further attributes of operations, and reports each.
fn one_operation(first: OperationKind, attributes: &mut Vec<Attribute>, errors: &mut Diagnostics) {
    attributes.retain(|attribute| {
        let Some(other) = OperationKind::of(attribute) else {
            return true;
        };
        let message = match (first.attribute(), other.attribute()) {
            (first, other) if first == other => format!("`#[{first}]` is repeated: keep one"),
            (first, other) => format!("a function is one operation: keep `#[{first}]` or `#[{other}]`"),
        };
        errors.error(attribute.path(), message);
        false
    });
}

/// Keeps clippy from asking a plain function for references: handlers own their parameters. (It asks no `async` one.)
fn own_parameters(signature: &Signature, attributes: &mut Vec<Attribute>) {
    if signature.asyncness.is_none() {
        attributes.push(parse_quote!(#[allow(clippy::needless_pass_by_value)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{errors, text, tool_errors};

    #[test]
    fn attributes_on_other_items() {
        for (tokens, what) in [
            (
                quote!(
                    const A: u8 = 1;
                ),
                "a constant",
            ),
            (
                quote!(
                    enum A {}
                ),
                "an enum",
            ),
            (
                quote!(
                    extern "C" {}
                ),
                "an `extern` block",
            ),
            (quote!(println!("a");), "a macro call"),
            (
                quote!(
                    mod a {}
                ),
                "a module",
            ),
            (
                quote!(
                    static A: u8 = 1;
                ),
                "a static",
            ),
            (
                quote!(
                    trait A {}
                ),
                "a trait",
            ),
            (
                quote!(
                    type A = u8;
                ),
                "a type alias",
            ),
            (quote!(union A { a: u8 }), "a union"),
            (
                quote!(
                    use a::b;
                ),
                "an import",
            ),
        ] {
            let place = format!("belongs on a function, not on {what}");
            assert!(tool_errors(quote!(), &tokens)[0].contains(&place), "{tokens}");
            let found = errors(endpoint(quote!(), &tokens));
            assert!(found.len() == 1 && found[0].contains(what), "{tokens}: {found:?}");
        }
    }

    #[test]
    fn clippy_lets_plain_functions_own_their_parameters() {
        let allows =
            |item: TokenStream| text(operation(OperationKind::Tool, quote!(), &item)).contains("clippy::");
        assert!(allows(quote!(
            fn a(b: String) -> String {
                b.clone()
            }
        )));
        assert!(!allows(quote!(
            async fn a(b: String) -> String {
                b.clone()
            }
        )));
    }

    #[test]
    fn one_attribute_a_function() {
        let function = quote!(
            #[mcp_prompt]
            #[mcp_tool]
            #[mcp_runtime::mcp_resource(uri = "a:b")]
            fn a() {}
        );
        let expected = [
            "a function is one operation: keep `#[mcp_tool]` or `#[mcp_prompt]`",
            "`#[mcp_tool]` is repeated: keep one",
            "a function is one operation: keep `#[mcp_tool]` or `#[mcp_resource]`",
        ];
        assert_eq!(tool_errors(quote!(), &function), expected);
    }
}
