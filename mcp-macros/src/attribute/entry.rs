//! One entry of an attribute: `key`, `key = value` or `key(…)`.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Error, Expr, ExprLit, Ident, Lit, LitStr, Token,
    ext::IdentExt,
    parenthesized,
    parse::{Parse, ParseStream},
};

use crate::diagnostics::Diagnostics;

/// One key with what stands behind it.
pub struct Entry {
    pub key: Ident,
    pub value: Value,
}

/// What stands behind a key.
pub enum Value {
    /// `key`
    Nothing,
    /// `key = value`
    Expression(Expr),
    /// `key(…)`
    List(TokenStream),
}

impl Entry {
    /// The string literal behind the key.
    pub fn literal(&self) -> syn::Result<LitStr> {
        match &self.value {
            Value::Expression(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => Ok(text.clone()),
            _ => {
                let message = format!("`{0}` takes a string literal: `{0} = \"…\"`", self.key);
                Err(Error::new_spanned(self, message))
            }
        }
    }
}

impl ToTokens for Entry {
    /// What an error about the value underlines: the value, or the key if there is none.
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match &self.value {
            Value::Expression(expression) => expression.to_tokens(tokens),
            Value::Nothing | Value::List(_) => self.key.to_tokens(tokens),
        }
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = Ident::parse_any(input).map_err(|error| Error::new(error.span(), "expected a key"))?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            let missing = |error: Error| Error::new(error.span(), format!("expected a value: `{key} = …`"));
            Value::Expression(ungroup(input.parse().map_err(missing)?))
        } else if input.peek(syn::token::Paren) {
            let list;
            parenthesized!(list in input);
            Value::List(list.parse()?)
        } else {
            Value::Nothing
        };
        if !input.is_empty() && !input.peek(Token![,]) {
            return Err(input.error("expected `,`"));
        }
        Ok(Self { key, value })
    }
}

/// Reads all entries that can be read; a faulty one is reported and does not hide the others.
pub fn split(input: ParseStream<'_>, errors: &mut Diagnostics) -> Vec<Entry> {
    let mut entries = Vec::new();
    while !input.is_empty() {
        entries.extend(errors.ok(input.parse()));
        while !input.is_empty() && input.parse::<Token![,]>().is_err() {
            let _ = input.parse::<TokenTree>();
        }
    }
    entries
}

/// The expression without the invisible group that a `macro_rules!` puts around what it was given.
fn ungroup(expression: Expr) -> Expr {
    match expression {
        Expr::Group(group) => ungroup(*group.expr),
        other => other,
    }
}
