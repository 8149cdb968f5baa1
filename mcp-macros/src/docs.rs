//! Doc comments, as descriptions.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of the doc comments among `attributes`, as an expression; `None` if there is none.
pub fn description(attributes: &[Attribute]) -> Option<TokenStream> {
    let parts: Vec<&Expr> = attributes.iter().filter_map(documentation).collect();
    let lines: Option<Vec<String>> = parts.iter().map(|part| literal(part)).collect();
    if let Some(lines) = lines {
        let text = join(&lines);
        return (!text.is_empty()).then(|| text.to_token_stream());
    }
    // `#[doc = include_str!("…")]`: its text is known to the compiler only.
    let (first, rest) = parts.split_first()?;
    Some(quote!(::core::concat!(#first #(, "\n", #rest)*)))
}

/// Whether an attribute is a doc comment.
pub fn is_documentation(attribute: &Attribute) -> bool {
    documentation(attribute).is_some()
}

fn documentation(attribute: &Attribute) -> Option<&Expr> {
    match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(&meta.value),
        _ => None,
    }
}

fn literal(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        Expr::Group(group) => literal(&group.expr),
        _ => None,
    }
}

/// Joins the lines of each paragraph, which are wrapped only for the source's sake. What Markdown gives a line of
/// its own (list items, headings, tables, quotes, code) keeps it.
fn join(comments: &[String]) -> String {
    let mut joined = String::new();
    let mut fenced = false;
    let mut after_prose = false;
    for line in comments.iter().flat_map(|comment| lines(comment)) {
        let fence = line.trim_start().starts_with("```");
        let prose = !fenced && !fence && is_prose(line);
        joined.push_str(if after_prose && prose { " " } else { "\n" });
        joined.push_str(line);
        fenced ^= fence;
        after_prose = !fenced && !fence && !line.is_empty();
    }
    joined.trim().to_owned()
}

/// The lines of one comment without their indentation: a space in `/// …`, anything in `/** … */`.
fn lines(comment: &str) -> impl Iterator<Item = &str> {
    let block = comment.contains('\n');
    // An empty comment is an empty line.
    comment.split('\n').map(move |line| {
        let line = line.trim_end();
        if block { line.trim_start() } else { line.strip_prefix(' ').unwrap_or(line) }
    })
}

fn is_prose(line: &str) -> bool {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['.', ')']);
    line.starts_with(|c: char| !c.is_whitespace() && !"-*+#|>".contains(c)) && !numbered
}

#[cfg(test)]
mod tests {
    use syn::{ItemFn, parse_quote};

    use super::*;

    fn described(item: &ItemFn) -> Option<String> {
        description(&item.attrs).map(|tokens| syn::parse2::<syn::LitStr>(tokens).unwrap().value())
    }

    #[test]
    fn lines_of_a_paragraph_are_joined() {
        let item = parse_quote! {
            /// Searches the
            ///  catalog.
            ///
            /// - one
            /// - two,
            ///   or three
            fn search() {}
        };
        assert_eq!(described(&item).unwrap(), "Searches the\n catalog.\n\n- one\n- two,\n  or three");
        let item = parse_quote! {
            /// Searches the
            /// catalog.
            ///
            /// Takes long.
            fn search() {}
        };
        assert_eq!(described(&item).unwrap(), "Searches the catalog.\n\nTakes long.");
    }

    #[test]
    fn code_and_headings_keep_their_lines() {
        let item = parse_quote! {
            /// # Title
            /// ```
            /// a
            /// b
            /// ```
            /// text
            /// more
            /// 1. item
            fn search() {}
        };
        assert_eq!(described(&item).unwrap(), "# Title\n```\na\nb\n```\ntext more\n1. item");
    }

    #[test]
    fn block_comments_and_blank_comments() {
        let item = parse_quote! {
            /** Searches
                the catalog. */
            fn search() {}
        };
        assert_eq!(described(&item).unwrap(), "Searches the catalog.");
        let item = parse_quote! {
            ///
            fn search() {}
        };
        assert_eq!(described(&item), None);
        assert_eq!(
            described(&parse_quote!(
                fn search() {}
            )),
            None
        );
    }

    #[test]
    fn included_text_is_left_to_the_compiler() {
        let item: ItemFn = parse_quote! {
            #[doc = include_str!("search.md")]
            fn search() {}
        };
        let tokens = description(&item.attrs).unwrap().to_string();
        assert!(tokens.contains("concat") && tokens.contains("search.md"), "{tokens}");
    }
}
