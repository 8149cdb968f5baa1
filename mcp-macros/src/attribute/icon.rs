//! `icons("https://…", icon(src = "…", mime_type = "…", sizes("48x48"), theme = "dark"))`.

use proc_macro2::TokenStream;
use syn::{Ident, LitStr, Token, parenthesized, parse::Parser, punctuated::Punctuated};

use super::{entry::Value, keys::Keys};
use crate::diagnostics::Diagnostics;

/// One icon of an operation or endpoint.
pub struct Icon {
    pub src: LitStr,
    pub mime_type: Option<LitStr>,
    pub sizes: Vec<LitStr>,
    pub theme: Option<&'static str>,
}

/// One entry of the list, before its keys are read.
enum Form {
    Source(LitStr),
    Keys(Ident, TokenStream),
}

impl Icon {
    /// Takes the key `icons`.
    pub fn list(keys: &mut Keys<'_>) -> Vec<Self> {
        let Some(entry) = keys.entry("icons") else {
            return Vec::new();
        };
        let parser = Punctuated::<Form, Token![,]>::parse_terminated;
        let forms = match &entry.value {
            Value::List(tokens) => parser.parse2(tokens.clone()).unwrap_or_default(),
            _ => Punctuated::new(),
        };
        if forms.is_empty() {
            let example = "icons(\"https://…/icon.png\")` or `icons(icon(src = \"…\", theme = \"dark\"))";
            keys.errors.error(&entry, format!("`icons` takes a list: `{example}`"));
        }
        forms.into_iter().filter_map(|form| Self::read(form, keys.errors)).collect()
    }

    fn read(form: Form, errors: &mut Diagnostics) -> Option<Self> {
        match form {
            Form::Source(src) => Some(Self { src, mime_type: None, sizes: Vec::new(), theme: None }),
            Form::Keys(icon, tokens) => {
                let mut keys = Keys::parse("`icon(…)`", icon.span(), tokens, errors);
                let src = keys.required("src");
                let mime_type = keys.string("mime_type");
                let sizes = keys.strings("sizes").unwrap_or_default();
                let theme = keys.choice("theme", &[("light", "light"), ("dark", "dark")]);
                keys.finish();
                Some(Self { src: src?, mime_type, sizes, theme })
            }
        }
    }
}

impl syn::parse::Parse for Form {
    fn parse(input: syn::parse::ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            return Ok(Self::Source(input.parse()?));
        }
        let icon: Ident = input.parse()?;
        if icon != "icon" {
            return Err(syn::Error::new(icon.span(), "expected `icon(…)`"));
        }
        let list;
        parenthesized!(list in input);
        Ok(Self::Keys(icon, list.parse()?))
    }
}
