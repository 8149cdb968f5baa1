//! URI templates of level 1 (RFC 6570): text with variables, such as `catalog://parts/{id}`.

use std::fmt;

use super::uri::{has_scheme, is_uri_unit, percent_decode, percent_encode, units};

/// The longest template, in bytes.
const MAX_BYTES: usize = 8192;
/// The most variables of a template.
const MAX_VARIABLES: usize = 32;
/// The longest name of a variable, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// What variables never stand for.
const DELIMITERS: [char; 3] = ['/', '?', '#'];

/// Why a text is not a [`UriTemplate`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemplateError {
    /// The template is longer than 8,192 bytes.
    TooLong,
    /// The template has more than 32 variables.
    TooManyVariables,
    /// The template does not begin with a scheme.
    NoScheme,
    /// A brace has no partner.
    UnbalancedBrace,
    /// The braces hold something other than a name of at most 128 letters, digits and underscores.
    NotAVariable(String),
    /// Nothing stands between this variable and the one before, so that a URI could be split anywhere.
    AdjacentVariables(String),
    /// The variable stands twice.
    RepeatedVariable(String),
    /// This may not stand in a URI.
    InvalidCharacter(char),
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(f, "longer than {MAX_BYTES} bytes"),
            Self::TooManyVariables => write!(f, "more than {MAX_VARIABLES} variables"),
            Self::NoScheme => f.write_str("does not begin with a scheme, such as `file:`"),
            Self::UnbalancedBrace => f.write_str("a brace has no partner"),
            Self::NotAVariable(text) => write!(
                f,
                "`{{{text}}}` is not a variable: only plain names of letters, digits and underscores are (RFC 6570 level 1)"
            ),
            Self::AdjacentVariables(name) => {
                write!(f, "nothing stands between `{{{name}}}` and the variable before")
            }
            Self::RepeatedVariable(name) => write!(f, "`{{{name}}}` stands twice"),
            Self::InvalidCharacter('%') => f.write_str("`%` begins no triplet such as `%20`"),
            Self::InvalidCharacter(character) => write!(f, "{character:?} may not stand in a URI"),
        }
    }
}

impl std::error::Error for TemplateError {}

/// A URI template of level 1.
///
/// A variable stands for one or more characters other than `/`, `?` and `#`, percent-encoded where needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    text: Box<str>,
    pub(super) segments: Vec<Segment>,
}

/// What stands up to a delimiter: text, then variables, each with the text after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) head: String,
    pub(super) variables: Vec<(String, String)>,
    pub(super) delimiter: Option<char>,
}

impl UriTemplate {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// The first [`TemplateError`] in the text.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.len() > MAX_BYTES {
            return Err(TemplateError::TooLong);
        }
        let mut template = Self { text: text.into(), segments: Vec::new() };
        let mut segment = Segment::default();
        let mut names = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = if first == '{' {
                let (name, _) = rest[1..].split_once('}').ok_or(TemplateError::UnbalancedBrace)?;
                segment.add_variable(name)?;
                if names.contains(&name) {
                    return Err(TemplateError::RepeatedVariable(name.to_owned()));
                }
                names.push(name);
                name.len() + 2
            } else {
                segment.add_text(rest, first)?
            };
            if DELIMITERS.contains(&first) {
                template.segments.push(std::mem::take(&mut segment));
            }
            rest = &rest[length..];
        }
        template.segments.push(segment);
        if names.len() > MAX_VARIABLES {
            return Err(TemplateError::TooManyVariables);
        }
        match has_scheme(&template.segments[0].head) {
            true => Ok(template),
            false => Err(TemplateError::NoScheme),
        }
    }

    /// The template's text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The variables' names, in order.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().flat_map(|segment| &segment.variables).map(|(name, _)| name.as_str())
    }

    /// The variables with their decoded values, if the URI matches.
    ///
    /// Where a URI could be split in several ways, earlier variables get as little as possible. A value that is not
    /// UTF-8 once decoded matches nothing.
    pub fn match_uri(&self, uri: &str) -> Option<Vec<(&str, String)>> {
        let mut values = Vec::new();
        let mut rest = uri;
        for segment in &self.segments {
            let (text, after) = rest.split_at(rest.find(DELIMITERS).unwrap_or(rest.len()));
            if after.chars().next() != segment.delimiter {
                return None;
            }
            segment.match_text(text, &mut values)?;
            rest = after.get(1..).unwrap_or_default();
        }
        Some(values)
    }

    /// The URI with a value in place of each variable. There is none if a value is missing or empty.
    pub fn expand(&self, values: &[(&str, &str)]) -> Option<String> {
        let mut uri = String::new();
        for segment in &self.segments {
            uri.push_str(&segment.head);
            for (name, tail) in &segment.variables {
                let (_, value) = values.iter().find(|(given, value)| given == name && !value.is_empty())?;
                percent_encode(&mut uri, value);
                uri.push_str(tail);
            }
            uri.extend(segment.delimiter);
        }
        Some(uri)
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Segment {
    /// The text that is being added to.
    fn tail(&mut self) -> &mut String {
        self.variables.last_mut().map_or(&mut self.head, |(_, tail)| tail)
    }

    /// Takes the first unit of `rest`, and says how long it is.
    fn add_text(&mut self, rest: &str, first: char) -> Result<usize, TemplateError> {
        match units(rest).next().flatten() {
            _ if first == '}' => Err(TemplateError::UnbalancedBrace),
            Some(unit) if is_uri_unit(unit) => {
                if DELIMITERS.contains(&first) {
                    self.delimiter = Some(first);
                } else {
                    self.tail().push_str(unit);
                }
                Ok(unit.len())
            }
            _ => Err(TemplateError::InvalidCharacter(first)),
        }
    }

    fn add_variable(&mut self, name: &str) -> Result<(), TemplateError> {
        let valid = name.len() <= MAX_NAME_BYTES
            && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !valid {
            return Err(TemplateError::NotAVariable(name.to_owned()));
        }
        if !self.variables.is_empty() && self.tail().is_empty() {
            return Err(TemplateError::AdjacentVariables(name.to_owned()));
        }
        self.variables.push((name.to_owned(), String::new()));
        Ok(())
    }

    /// Adds the values of the variables, if the text matches.
    fn match_text<'t>(&'t self, text: &str, values: &mut Vec<(&'t str, String)>) -> Option<()> {
        let mut rest = text.strip_prefix(&*self.head)?;
        let Some(((last, tail), others)) = self.variables.split_last() else {
            return rest.is_empty().then_some(());
        };
        for (name, tail) in others {
            // As early as possible leaves as much as possible for what follows, so that nothing has to be tried twice.
            let at = find_after_one_unit(rest, tail)?;
            values.push((name, percent_decode(&rest[..at])?));
            rest = &rest[at + tail.len()..];
        }
        let value = rest.strip_suffix(&**tail).filter(|value| !value.is_empty())?;
        values.push((last, percent_decode(value)?));
        Some(())
    }
}

/// Where `needle` first stands between units of `text`, with at least one unit before.
fn find_after_one_unit(text: &str, needle: &str) -> Option<usize> {
    let mut at = 0;
    for unit in units(text) {
        at += unit?.len();
        if text[at..].starts_with(needle) {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn template(text: &str) -> UriTemplate {
        UriTemplate::parse(text).unwrap()
    }

    fn matched(text: &str, uri: &str) -> Option<Vec<(String, String)>> {
        let template = template(text);
        let values = template.match_uri(uri)?;
        Some(values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    fn values(text: &str, uri: &str) -> Vec<String> {
        matched(text, uri).unwrap().into_iter().map(|(_, value)| value).collect()
    }

    #[test]
    fn a_template_knows_its_variables() {
        let template = template("x://{a}/b/{_c1}?q={D}");
        assert_eq!(template.variables().collect::<Vec<_>>(), ["a", "_c1", "D"]);
        assert_eq!(template.as_str(), "x://{a}/b/{_c1}?q={D}");
        assert_eq!(template.to_string(), template.as_str());
    }

    #[test]
    fn every_rule_of_templates_has_its_error() {
        use TemplateError::*;
        let name = |text: &str| text.to_owned();
        let cases = [
            ("", NoScheme),
            ("parts/{id}", NoScheme),
            ("{scheme}://x", NoScheme),
            ("x://{id", UnbalancedBrace),
            ("x://id}", UnbalancedBrace),
            ("x://{}", NotAVariable(name(""))),
            ("x://{+path}", NotAVariable(name("+path"))),
            ("x://{/path}", NotAVariable(name("/path"))),
            ("x://{?q}", NotAVariable(name("?q"))),
            ("x://{list*}", NotAVariable(name("list*"))),
            ("x://{p:3}", NotAVariable(name("p:3"))),
            ("x://{a,b}", NotAVariable(name("a,b"))),
            ("x://{1a}", NotAVariable(name("1a"))),
            ("x://{{a}", NotAVariable(name("{a"))),
            ("x://{a}{b}", AdjacentVariables(name("b"))),
            ("x://{a}/{a}", RepeatedVariable(name("a"))),
            ("x://a b", InvalidCharacter(' ')),
            ("x://世", InvalidCharacter('世')),
            ("x://a%2", InvalidCharacter('%')),
            ("x://a%zz", InvalidCharacter('%')),
        ];
        for (text, error) in cases {
            assert_eq!(UriTemplate::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn templates_have_limits() {
        let variables = |count| (0..count).map(|n| format!("/{{v{n}}}")).collect::<String>();
        assert!(UriTemplate::parse(&format!("x:{}", variables(32))).is_ok());
        assert_eq!(UriTemplate::parse(&format!("x:{}", variables(33))), Err(TemplateError::TooManyVariables));
        assert!(UriTemplate::parse(&format!("x:{{{}}}", "n".repeat(128))).is_ok());
        let long = UriTemplate::parse(&format!("x:{{{}}}", "n".repeat(129)));
        assert!(matches!(long, Err(TemplateError::NotAVariable(_))));
        assert!(UriTemplate::parse(&format!("x:{}", "a".repeat(8190))).is_ok());
        assert_eq!(UriTemplate::parse(&format!("x:{}", "a".repeat(8191))), Err(TemplateError::TooLong));
    }

    #[test]
    fn a_variable_stands_for_one_or_more_characters_of_a_segment() {
        assert_eq!(values("x://parts/{id}", "x://parts/7"), ["7"]);
        for uri in
            ["x://parts/", "x://parts", "x://parts/7/8", "x://parts/7?", "x://parts/7#a", "y://parts/7", ""]
        {
            assert_eq!(matched("x://parts/{id}", uri), None, "{uri}");
        }
        assert_eq!(values("x://a/{b}?c={d}#{e}", "x://a/1?c=2#3"), ["1", "2", "3"]);
    }

    #[test]
    fn values_are_percent_decoded() {
        assert_eq!(values("x://{a}", "x://a%2Fb%3F%C3%A9"), ["a/b?é"]);
        for uri in ["x://%", "x://a%2", "x://%GG", "x://%FF"] {
            assert_eq!(matched("x://{a}", uri), None, "{uri}");
        }
    }

    #[test]
    fn a_triplet_is_never_taken_apart() {
        assert_eq!(matched("x://{a}1b", "x://a%41b"), None);
        assert_eq!(values("x://{a}1{b}", "x://%41y1z"), ["Ay", "z"]);
    }

    #[test]
    fn earlier_variables_get_as_little_as_possible() {
        assert_eq!(values("x://{a}-{b}", "x://1-2-3"), ["1", "2-3"]);
        assert_eq!(values("x://{a}-{b}", "x://---"), ["-", "-"]);
        assert_eq!(values("x://{a}.{b}.gz", "x://f.tar.gz.gz"), ["f", "tar.gz"]);
    }

    #[test]
    fn expanding_needs_every_value() {
        let template = template("x://{a}/{b}.txt");
        assert_eq!(
            template.expand(&[("b", "ü/"), ("a", "1"), ("c", "-")]).as_deref(),
            Some("x://1/%C3%BC%2F.txt")
        );
        assert_eq!(template.expand(&[("a", "1")]), None);
        assert_eq!(template.expand(&[("a", "1"), ("b", "")]), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn an_expanded_uri_matches_with_the_same_values(a in "[^/]{1,8}", b in "\\PC{1,8}") {
            let template = template("x://{a}/fixed/{b}.json?k={c}");
            let given = [("a", a.as_str()), ("b", b.as_str()), ("c", "-")];
            let uri = template.expand(&given).unwrap();
            let found = template.match_uri(&uri).unwrap();
            prop_assert_eq!(found.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>(), given);
        }

        #[test]
        fn no_text_makes_parsing_or_matching_panic(text: String, uri: String) {
            if let Ok(template) = UriTemplate::parse(&text) {
                template.match_uri(&uri);
            }
            template("x:{a}-{b}").match_uri(&uri);
        }
    }
}
