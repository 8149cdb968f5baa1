//! Collects all errors of an item, which are then reported together, each at its own token.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::Error;

/// The errors of one item, in the order they were found.
#[derive(Default)]
pub struct Diagnostics(Option<Error>);

impl Diagnostics {
    /// Reports an error that underlines all of `tokens`.
    pub fn error(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(Error::new_spanned(tokens, message));
    }

    /// Reports an error at one span.
    pub fn error_at(&mut self, span: Span, message: impl Display) {
        self.push(Error::new(span, message));
    }

    /// Adds what went wrong elsewhere.
    pub fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The value of a result, whose error is reported.
    pub fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// One `compile_error!` for each error.
    pub fn into_compile_errors(self) -> TokenStream {
        self.0.map(Error::into_compile_error).unwrap_or_default()
    }

    /// The messages, for tests of the rules.
    #[cfg(test)]
    pub fn messages(self) -> Vec<String> {
        self.0.into_iter().flatten().map(|error| error.to_string()).collect()
    }
}

/// The known word that was probably meant by an unknown one.
pub fn nearest<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let tolerated = unknown.chars().count().div_ceil(3);
    known
        .into_iter()
        .map(|word| (distance(unknown, word), word))
        .filter(|(distance, _)| *distance <= tolerated)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// `` `a`, `b` and `c` ``, for messages that say what there is to choose from.
pub fn listed<T: Display>(words: impl IntoIterator<Item = T>, conjunction: &str) -> String {
    let mut words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match (words.pop(), words.is_empty()) {
        (None, _) => String::new(),
        (Some(only), true) => only,
        (Some(last), false) => format!("{} {conjunction} {last}", words.join(", ")),
    }
}

/// Edits that turn one word into the other; two swapped neighbours count once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_suggested() {
        let known = ["title", "timeout", "read_only", "uri"];
        assert_eq!(nearest("tittle", known), Some("title"));
        assert_eq!(nearest("readonly", known), Some("read_only"));
        assert_eq!(nearest("timeuot", known), Some("timeout"));
        assert_eq!(nearest("url", known), Some("uri"));
        assert_eq!(nearest("colour", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn swapped_letters_are_one_edit() {
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("scope", "socpe"), 1);
        assert_eq!(distance("", "abc"), 3);
    }

    #[test]
    fn words_are_listed() {
        assert_eq!(listed(["a"], "or"), "`a`");
        assert_eq!(listed(["a", "b", "c"], "or"), "`a`, `b` or `c`");
        assert_eq!(listed([""; 0], "or"), "");
    }

    #[test]
    fn every_error_is_kept() {
        let mut errors = Diagnostics::default();
        assert!(errors.is_empty());
        errors.error_at(Span::call_site(), "one");
        errors.error(quote::quote!(a b), "two");
        assert!(!errors.is_empty());
        assert_eq!(errors.messages(), ["one", "two"]);
    }
}
