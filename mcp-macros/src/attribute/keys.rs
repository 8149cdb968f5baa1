//! Reads the keys of an attribute: `key`, `key = value` and `key(…)`, separated by commas.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::{
    Expr, ExprLit, Ident, Lit, LitInt, LitStr, Path, Token,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
};

use super::{
    duration,
    entry::{Entry, Value, split},
};
use crate::diagnostics::{Diagnostics, listed, nearest};

/// The keys of one attribute. Each is taken by name and type; what is left in the end is unknown.
pub struct Keys<'a> {
    attribute: &'a str,
    span: Span,
    entries: Vec<Entry>,
    known: Vec<&'static str>,
    missing: Vec<&'static str>,
    pub errors: &'a mut Diagnostics,
}

impl<'a> Keys<'a> {
    /// Splits `tokens` into keys. `attribute` is what messages call the attribute, `span` where it stands.
    pub fn parse(attribute: &'a str, span: Span, tokens: TokenStream, errors: &'a mut Diagnostics) -> Self {
        let split = |input: ParseStream<'_>| Ok(split(input, errors));
        let entries = split.parse2(tokens).unwrap_or_default();
        let mut keys =
            Self { attribute, span, entries: Vec::new(), known: Vec::new(), missing: Vec::new(), errors };
        for entry in entries {
            if keys.entries.iter().any(|earlier| earlier.key == entry.key) {
                keys.errors.error(&entry.key, format!("`{}` is repeated: keep one", entry.key));
            } else {
                keys.entries.push(entry);
            }
        }
        keys
    }

    /// A key in any form.
    pub fn entry(&mut self, key: &'static str) -> Option<Entry> {
        self.known.push(key);
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(at))
    }

    /// `key = "text"`, where the text is not blank.
    pub fn string(&mut self, key: &'static str) -> Option<LitStr> {
        self.text(key, "write its text or remove the key")
    }

    fn text(&mut self, key: &'static str, remedy: &str) -> Option<LitStr> {
        let entry = self.entry(key)?;
        let literal = self.errors.ok(entry.literal())?;
        if literal.value().trim().is_empty() {
            self.errors.error(&literal, format!("`{key}` is blank: {remedy}"));
            return None;
        }
        Some(literal)
    }

    /// Whether a key was written and not taken yet.
    pub fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// `key = "text"`, which the attribute can't do without.
    pub fn required(&mut self, key: &'static str) -> Option<LitStr> {
        if !self.has(key) {
            self.missing.push(key);
        }
        self.text(key, "write its text")
    }

    /// `key`, `key = true` or `key = false`.
    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let entry = self.entry(key)?;
        match &entry.value {
            Value::Nothing => Some(true),
            Value::Expression(Expr::Lit(ExprLit { lit: Lit::Bool(value), .. })) => Some(value.value),
            _ => {
                self.errors.error(&entry, format!("write `{key}`, or `{key} = false`"));
                None
            }
        }
    }

    /// `key = some::path`.
    pub fn path(&mut self, key: &'static str, example: &str) -> Option<Path> {
        let entry = self.entry(key)?;
        match &entry.value {
            Value::Expression(Expr::Path(path)) if path.qself.is_none() => Some(path.path.clone()),
            _ => {
                self.errors.error(&entry, format!("`{key}` takes a path: `{key} = {example}`"));
                None
            }
        }
    }

    /// `key = 42`: a size in bytes, with the literal it comes from.
    pub fn bytes(&mut self, key: &'static str) -> Option<(u64, LitInt)> {
        let entry = self.entry(key)?;
        let value = match &entry.value {
            Value::Expression(Expr::Lit(ExprLit { lit: Lit::Int(value), .. })) => {
                value.base10_parse().ok().map(|bytes| (bytes, value.clone()))
            }
            _ => None,
        };
        if value.is_none() {
            self.errors.error(&entry, format!("`{key}` is a number of bytes: `{key} = 1024`"));
        }
        value
    }

    /// `key = "30s"`, in milliseconds, with the literal it comes from.
    pub fn duration(&mut self, key: &'static str) -> Option<(u64, LitStr)> {
        let text = self.string(key)?;
        match duration::milliseconds(&text.value()) {
            Ok(milliseconds) => Some((milliseconds, text)),
            Err(problem) => {
                self.errors.error(&text, problem);
                None
            }
        }
    }

    /// `key = "word"`, where the word is one of `choices`.
    pub fn choice<T: Copy>(&mut self, key: &'static str, choices: &[(&'static str, T)]) -> Option<T> {
        let text = self.string(key)?;
        let words = choices.iter().map(|(word, _)| *word);
        match choices.iter().find(|(word, _)| *word == text.value()) {
            Some((_, choice)) => Some(*choice),
            None => {
                self.errors.error(&text, not_one_of(key, &text.value(), words, |word| format!("{word:?}")));
                None
            }
        }
    }

    /// `key("first", "second")`, at least one, none twice.
    pub fn strings(&mut self, key: &'static str) -> Option<Vec<LitStr>> {
        self.list(key, "\"…\", \"…\"", LitStr::value)
    }

    /// `key(first, second)`, at least one, none twice.
    pub fn words(&mut self, key: &'static str, example: &str) -> Option<Vec<Ident>> {
        self.list(key, example, ToString::to_string)
    }

    fn list<T: Parse + ToTokens>(
        &mut self,
        key: &'static str,
        example: &str,
        text: impl Fn(&T) -> String,
    ) -> Option<Vec<T>> {
        let entry = self.entry(key)?;
        let parser = Punctuated::<T, Token![,]>::parse_terminated;
        let items = match &entry.value {
            Value::List(tokens) => parser.parse2(tokens.clone()).unwrap_or_default(),
            _ => Punctuated::new(),
        };
        if items.is_empty() {
            self.errors.error(&entry, format!("`{key}` takes a list: `{key}({example})`"));
            return None;
        }
        let mut kept: Vec<T> = Vec::new();
        for item in items {
            if kept.iter().any(|earlier| text(earlier) == text(&item)) {
                self.errors.error(&item, format!("`{}` is repeated: keep one", text(&item)));
            } else {
                kept.push(item);
            }
        }
        Some(kept)
    }

    /// Reports the required keys that are missing, and the keys that nobody took.
    pub fn finish(self) {
        if !self.missing.is_empty() {
            let example: Vec<String> = self.missing.iter().map(|key| format!("{key} = \"…\"")).collect();
            let missing = listed(&self.missing, "and");
            let message = format!("{} needs {missing}: write `{}`", self.attribute, example.join(", "));
            self.errors.error_at(self.span, message);
        }
        for Entry { key, .. } in &self.entries {
            let message = match nearest(&key.to_string(), self.known.iter().copied()) {
                Some(meant) => format!("unknown key `{key}`: did you mean `{meant}`?"),
                None if self.known.is_empty() => format!("{} takes no keys: remove `{key}`", self.attribute),
                None => {
                    format!("unknown key `{key}`: {} takes {}", self.attribute, listed(&self.known, "and"))
                }
            };
            self.errors.error(key, message);
        }
    }
}

/// The message for a word that is none of the possible ones.
pub fn not_one_of<'w>(
    key: &str,
    found: &str,
    words: impl Iterator<Item = &'w str> + Clone,
    shown: impl Fn(&str) -> String,
) -> String {
    match nearest(found, words.clone()) {
        Some(meant) => format!("`{key}` knows no `{found}`: did you mean `{}`?", shown(meant)),
        None => format!("`{key}` knows no `{found}`: write {}", listed(words.map(shown), "or")),
    }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn messages(tokens: TokenStream, read: impl FnOnce(&mut Keys<'_>)) -> Vec<String> {
        let mut errors = Diagnostics::default();
        let mut keys = Keys::parse("`#[mcp_test]`", Span::call_site(), tokens, &mut errors);
        read(&mut keys);
        keys.finish();
        errors.messages()
    }

    #[test]
    fn values_are_read_in_any_order() {
        let tokens = quote!(hot, title = "T", scope = "public", uses(a, b), size = 7, at = a::b, ttl = "2s",);
        let found = messages(tokens, |keys| {
            assert_eq!(keys.string("title").unwrap().value(), "T");
            assert_eq!(keys.flag("hot"), Some(true));
            assert_eq!(keys.flag("cold"), None);
            assert_eq!(keys.choice("scope", &[("public", 1), ("private", 2)]), Some(1));
            assert_eq!(keys.words("uses", "a").unwrap(), ["a", "b"]);
            assert_eq!(keys.bytes("size").unwrap().0, 7);
            assert_eq!(keys.duration("ttl").unwrap().0, 2000);
            assert!(keys.path("at", "x").unwrap().segments.len() == 2);
        });
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn one_attribute_has_many_faults() {
        let found = messages(quote!(titel = "a", 7, title = 5, title = "b", hot = 1, size = -1), |keys| {
            keys.string("title");
            keys.flag("hot");
            keys.bytes("size");
            keys.required("path");
            keys.required("uri");
        });
        assert_eq!(
            found,
            [
                "expected a key",
                "`title` is repeated: keep one",
                "`title` takes a string literal: `title = \"…\"`",
                "write `hot`, or `hot = false`",
                "`size` is a number of bytes: `size = 1024`",
                "`#[mcp_test]` needs `path` and `uri`: write `path = \"…\", uri = \"…\"`",
                "unknown key `titel`: did you mean `title`?",
            ]
        );
    }

    #[test]
    fn syntax_errors_stay_local() {
        let found = messages(quote!(title = , name "x", scope = "shared", uses(1), of()), |keys| {
            keys.string("title");
            keys.string("name");
            keys.choice("scope", &[("public", ()), ("private", ())]);
            keys.words("uses", "sampling");
            keys.words("of", "sampling");
        });
        assert_eq!(
            found,
            [
                "expected a value: `title = …`",
                "expected `,`",
                "`scope` knows no `shared`: write `\"public\"` or `\"private\"`",
                "`uses` takes a list: `uses(sampling)`",
                "`of` takes a list: `of(sampling)`",
            ]
        );
    }

    #[test]
    fn an_attribute_without_keys_says_so() {
        let found = messages(quote!(path = "/mcp"), |_| {});
        assert_eq!(found, ["`#[mcp_test]` takes no keys: remove `path`"]);
    }
}
