//! `#[mcp(…)]` on a parameter.

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, Expr, ExprLit, ExprUnary, Ident, Lit, LitInt, LitStr, UnOp};

use super::{
    entry::{Entry, Value},
    keys::Keys,
    operation::{OperationKind, arguments},
};
use crate::diagnostics::Diagnostics;

/// What stands in `#[mcp(…)]`.
#[derive(Default)]
pub struct ParameterAttribute {
    pub rename: Option<LitStr>,
    pub title: Option<LitStr>,
    pub header: Option<LitStr>,
    /// With the key, for errors.
    pub default: Option<(Ident, DefaultValue)>,
    pub source: Option<Source>,
}

/// The decision for a type that could be both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Inject,
    Argument,
}

/// The value of an argument that the caller left out.
pub enum DefaultValue {
    /// `default`: the type's own.
    OfType,
    /// `default = "text"`: converted into the type, so that it may be a `String`.
    Text(LitStr),
    /// `default = 10`, with the same literal in a form that fits any JSON number.
    Literal { value: Expr, json: Expr },
    /// `default = anything::else()`.
    Expression(Expr),
}

impl ParameterAttribute {
    /// Reads all `#[mcp(…)]` attributes of one parameter.
    pub fn read(kind: OperationKind, attributes: &[Attribute], errors: &mut Diagnostics) -> Self {
        let mut tokens = TokenStream::new();
        let mut span = Span::call_site();
        for attribute in attributes {
            if !tokens.is_empty() {
                tokens.extend(quote::quote!(,));
            }
            tokens.extend(arguments(attribute, errors));
            span = attribute.path().segments[0].ident.span();
        }
        let attribute = format!("`#[mcp]` in a {kind}");
        let mut keys = Keys::parse(&attribute, span, tokens, errors);
        let parameter = Self::read_keys(kind, &mut keys);
        keys.finish();
        parameter
    }

    fn read_keys(kind: OperationKind, keys: &mut Keys<'_>) -> Self {
        let tool = kind == OperationKind::Tool;
        let mut parameter = Self { rename: keys.string("rename"), ..Self::default() };
        if tool || kind == OperationKind::Prompt {
            parameter.title = keys.string("title");
        }
        if tool {
            parameter.header = keys.string("header");
            parameter.default =
                keys.entry("default").and_then(|entry| DefaultValue::read(entry, keys.errors));
        }
        let inject = key_alone("inject", keys);
        let argument = if tool { key_alone("argument", keys) } else { None };
        parameter.source = match (inject, argument) {
            (Some(_), Some(argument)) => {
                keys.errors.error(argument, "a parameter is one or the other: keep `inject` or `argument`");
                None
            }
            (Some(_), None) => Some(Source::Inject),
            (None, Some(_)) => Some(Source::Argument),
            (None, None) => None,
        };
        parameter
    }
}

fn key_alone(key: &'static str, keys: &mut Keys<'_>) -> Option<Ident> {
    let entry = keys.entry(key)?;
    if !matches!(entry.value, Value::Nothing) {
        keys.errors.error(&entry, format!("`{key}` takes no value: write `#[mcp({key})]`"));
    }
    Some(entry.key)
}

impl DefaultValue {
    fn read(entry: Entry, errors: &mut Diagnostics) -> Option<(Ident, Self)> {
        let value = match entry.value {
            Value::Nothing => Self::OfType,
            Value::Expression(expression) => Self::from_expression(expression),
            Value::List(_) => {
                errors.error(&entry.key, "write `default`, or `default = …`");
                return None;
            }
        };
        Some((entry.key, value))
    }

    fn from_expression(expression: Expr) -> Self {
        let json = match &expression {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => return Self::Text(text.clone()),
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => widened(number, "u64", u64::MAX),
            Expr::Lit(ExprLit { lit: Lit::Float(_) | Lit::Bool(_) | Lit::Char(_), .. }) => {
                Some(expression.clone())
            }
            Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => match &**expr {
                Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => {
                    widened(number, "i64", i64::MAX.unsigned_abs()).map(|number| syn::parse_quote!(-#number))
                }
                Expr::Lit(ExprLit { lit: Lit::Float(_), .. }) => Some(expression.clone()),
                _ => None,
            },
            _ => None,
        };
        match json {
            Some(json) => Self::Literal { value: expression, json },
            None => Self::Expression(expression),
        }
    }
}

/// The same integer with a type that has room for it.
fn widened(number: &LitInt, suffix: &str, max: u64) -> Option<Expr> {
    let value = number.base10_parse::<u64>().ok().filter(|value| *value <= max)?;
    let literal = LitInt::new(&format!("{value}{suffix}"), number.span());
    Some(syn::parse_quote!(#literal))
}
