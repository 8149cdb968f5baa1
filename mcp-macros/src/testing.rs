//! Expansions without a compiler, for the tests of the rules.

use proc_macro2::{TokenStream, TokenTree};
use syn::LitStr;

use crate::{attribute::OperationKind, item};

/// The errors of a function under `#[mcp_tool]`.
pub fn tool_errors(keys: TokenStream, function: &TokenStream) -> Vec<String> {
    errors(item::operation(OperationKind::Tool, keys, function))
}

/// The errors of an expansion, which is valid Rust in any case.
pub fn errors(expansion: TokenStream) -> Vec<String> {
    syn::parse2::<syn::File>(expansion.clone()).expect("an expansion is a file");
    let mut messages = Vec::new();
    collect(expansion, &mut messages);
    messages
}

/// An expansion without errors, as text without spaces.
pub fn text(expansion: TokenStream) -> String {
    let text = expansion.to_string().replace(char::is_whitespace, "");
    assert_eq!(errors(expansion), [""; 0], "{text}");
    text
}

fn collect(tokens: TokenStream, messages: &mut Vec<String>) {
    let mut is_error = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => is_error = ident == "compile_error",
            TokenTree::Punct(_) => {}
            TokenTree::Group(group) if is_error => {
                messages.extend(syn::parse2::<LitStr>(group.stream()).map(|text| text.value()));
                is_error = false;
            }
            TokenTree::Group(group) => collect(group.stream(), messages),
            TokenTree::Literal(_) => {}
        }
    }
}
