//! Whether two URI templates could match the same URI.

use super::template::{Segment, UriTemplate};
use super::uri::units;

/// The most pairs of states that comparing two segments may look at.
const BUDGET: usize = 1 << 20;

impl UriTemplate {
    /// Whether one URI could match both templates.
    ///
    /// `false` is certain. Where the answer would take too long, for segments of a thousand characters, it is `true`.
    pub fn overlaps(&self, other: &Self) -> bool {
        let pairs = || self.segments.iter().zip(&other.segments);
        self.segments.len() == other.segments.len()
            && pairs().all(|(a, b)| a.delimiter == b.delimiter)
            && pairs().all(|(a, b)| tokens_overlap(&a.tokens(), &b.tokens()))
    }
}

impl Segment {
    fn tokens(&self) -> Vec<Token<'_>> {
        let text = |text| units(text).flatten().map(Token::Unit);
        let variables = self.variables.iter();
        text(&*self.head)
            .chain(variables.flat_map(|(_, tail)| [Token::Any, Token::More].into_iter().chain(text(tail))))
            .collect()
    }
}

/// What segments are made of: a variable is `Any`, then `More`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    /// This unit.
    Unit(&'t str),
    /// Any one unit.
    Any,
    /// Any number of units.
    More,
}

/// Whether one text could match both: a walk over both as automata, from all pairs of states that can be reached.
fn tokens_overlap(rows: &[Token<'_>], columns: &[Token<'_>]) -> bool {
    if (rows.len() + 1) * (columns.len() + 1) > BUDGET {
        return true;
    }
    // Whether the pair of the current row and each column can be reached; at first, the pair of starts.
    let mut reached = vec![false; columns.len() + 1];
    reached[0] = true;
    let mut above = Vec::new();
    for row in rows.iter().map(Some).chain([None]) {
        let mut below = vec![false; columns.len() + 1];
        for at in 0..reached.len() {
            let column = columns.get(at);
            if !reached[at] {
                continue;
            }
            if row == Some(&Token::More) || column == Some(&Token::More) {
                // It takes a unit that the other goes on with, or none at all.
                below[at] = true;
                if column.is_some() {
                    reached[at + 1] = true;
                }
            } else if let (Some(row), Some(column)) = (row, column) {
                below[at + 1] |= row == column || *row == Token::Any || *column == Token::Any;
            }
        }
        above = std::mem::replace(&mut reached, below);
    }
    above[columns.len()]
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn template(text: &str) -> UriTemplate {
        UriTemplate::parse(text).unwrap()
    }

    #[test]
    fn overlaps_are_found() {
        for (a, b) in [
            ("x://{a}", "x://{b}"),
            ("x://parts/{id}", "x://{kind}/7"),
            ("x://{a}-{b}", "x://{c}.{d}"),
            ("x://a{v}", "x://{w}a"),
            ("x://ab{v}ba", "x://aba{w}"),
            ("x://{a}%41", "x://{b}1%41"),
            ("x:a", "x:a"),
        ] {
            assert!(template(a).overlaps(&template(b)), "{a} {b}");
        }
    }

    #[test]
    fn what_cannot_overlap_does_not() {
        for (a, b) in [
            ("x://{a}", "y://{a}"),
            ("x://{a}", "x://{a}/b"),
            ("x://{a}?q", "x://{a}#q"),
            ("x://a{v}", "x://b{w}"),
            ("x://{v}a", "x://{w}b"),
            ("x://{v}", "x://"),
            ("x://a{v}b", "x://ab"),
            ("x://{a}1", "x://%41"),
        ] {
            assert!(!template(a).overlaps(&template(b)), "{a} {b}");
        }
    }

    #[test]
    fn too_long_a_comparison_is_taken_for_an_overlap() {
        let long = |end: char| template(&format!("x:{{v}}{}{end}", "a".repeat(2000)));
        assert!(long('a').overlaps(&long('b')));
    }

    /// Templates of a few letters, so that many overlap.
    fn small() -> impl Strategy<Value = UriTemplate> {
        let piece = prop_oneof![Just("a"), Just("b"), Just("%41"), Just("/"), Just("{}")];
        vec(piece, 0..4).prop_filter_map("adjacent variables", |pieces| {
            let mut text = "x:".to_owned();
            for (n, piece) in pieces.iter().enumerate() {
                text.push_str(&piece.replace("{}", &format!("{{v{n}}}")));
            }
            UriTemplate::parse(&text).ok()
        })
    }

    /// All texts of up to six of the units that `small` uses: enough for what three pieces and three others match.
    fn all_uris() -> Vec<String> {
        let mut uris = vec!["x:".to_owned()];
        let mut last = uris.clone();
        for _ in 0..6 {
            last =
                last.iter().flat_map(|uri| ["a", "b", "%41", "/"].map(|unit| uri.clone() + unit)).collect();
            uris.extend_from_slice(&last);
        }
        uris
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn overlaps_are_symmetric_and_a_template_overlaps_itself(a in small(), b in small()) {
            prop_assert_eq!(a.overlaps(&b), b.overlaps(&a));
            prop_assert!(a.overlaps(&a));
        }

        #[test]
        fn overlaps_are_exactly_what_some_uri_shows(a in small(), b in small()) {
            let shown = all_uris().iter().any(|uri| a.match_uri(uri).is_some() && b.match_uri(uri).is_some());
            prop_assert_eq!(a.overlaps(&b), shown, "{} {}", a, b);
        }

        #[test]
        fn any_uri_that_matches_both_is_foreseen(a in small(), b in small(), units in vec("[ab/]|%41", 0..10)) {
            let uri = format!("x:{}", units.concat());
            if a.match_uri(&uri).is_some() && b.match_uri(&uri).is_some() {
                prop_assert!(a.overlaps(&b));
            }
        }
    }
}
