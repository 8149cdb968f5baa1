//! The headers that mirror parts of the body, and their values.

use std::borrow::Cow;
use std::fmt;

use super::member::JsonType;
use super::raw::Raw;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The header that names the revision.
pub const MCP_PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The header that mirrors `method`.
pub const MCP_METHOD: &str = "mcp-method";
/// The header that mirrors `params.name` or `params.uri`.
pub const MCP_NAME: &str = "mcp-name";
/// How the names of headers begin that mirror arguments.
pub const MCP_PARAM_PREFIX: &str = "mcp-param-";

const SENTINEL_START: &str = "=?base64?";
const SENTINEL_END: &str = "?=";

/// Why a header's value can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFault {
    /// A byte that is neither visible ASCII nor space nor tab.
    InvalidCharacter,
    /// What stands between the base64 markers is not base64.
    InvalidBase64,
    /// What was encoded in base64 is not UTF-8.
    InvalidUtf8,
}

impl fmt::Display for HeaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InvalidCharacter => "has a character that is not visible ASCII, space or tab",
            Self::InvalidBase64 => "is marked as base64 but is not",
            Self::InvalidUtf8 => "is base64 of something that is not UTF-8",
        })
    }
}

impl std::error::Error for HeaderFault {}

/// The text of a header's value as it stands, without the whitespace around it.
///
/// # Errors
///
/// [`HeaderFault::InvalidCharacter`].
pub fn plain_value(value: &[u8]) -> Result<&str, HeaderFault> {
    if !value.iter().all(|&byte| is_value_byte(byte)) {
        return Err(HeaderFault::InvalidCharacter);
    }
    let text = std::str::from_utf8(value).map_err(|_| HeaderFault::InvalidCharacter)?;
    Ok(text.trim_matches([' ', '\t']))
}

/// Whether a header's value is a text that can't be meant in another way: visible ASCII, and no encoding.
///
/// Many values are, so that nothing has to be decoded to compare them.
pub fn says_plainly(value: &[u8], text: &str) -> bool {
    value == text.as_bytes()
        && value.iter().fold(true, |plain, byte| plain & byte.is_ascii_graphic())
        && !text.starts_with(SENTINEL_START)
}

/// The text that a header's value stands for, where it may be encoded (`Mcp-Name` and `Mcp-Param-*`).
///
/// # Errors
///
/// A [`HeaderFault`] for an invalid character or a bad encoding between the base64 markers.
pub fn decode_value(value: &[u8]) -> Result<Cow<'_, str>, HeaderFault> {
    let text = plain_value(value)?;
    let encoded = text.strip_prefix(SENTINEL_START).and_then(|rest| rest.strip_suffix(SENTINEL_END));
    let Some(encoded) = encoded else {
        return Ok(Cow::Borrowed(text));
    };
    let bytes = STANDARD.decode(encoded).map_err(|_| HeaderFault::InvalidBase64)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| HeaderFault::InvalidUtf8)
}

/// A header's value that stands for `text`.
pub fn encode_value(text: &str) -> Cow<'_, str> {
    let padded = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
    let ambiguous = text.starts_with(SENTINEL_START) && text.ends_with(SENTINEL_END);
    if !padded && !ambiguous && text.bytes().all(is_value_byte) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{SENTINEL_START}{}{SENTINEL_END}", STANDARD.encode(text)))
}

const fn is_value_byte(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~')
}

/// Whether a decoded header says the same as a string, an integer or a boolean in the body.
///
/// Integers are compared by value, so `42.0` equals `42`, as long as a double holds them exactly.
pub fn matches_json(header: &str, raw: Raw<'_>) -> bool {
    let body = raw.get();
    match raw.kind() {
        JsonType::String if body.contains('\\') => {
            serde_json::from_str::<String>(body).is_ok_and(|text| text == header)
        }
        JsonType::String => body[1..body.len() - 1] == *header,
        JsonType::Number => safe_integer(body).is_some_and(|number| safe_integer(header) == Some(number)),
        JsonType::Boolean => body == header,
        JsonType::Null | JsonType::Array | JsonType::Object => false,
    }
}

/// The value of a decimal integer such as `42`, `-7` or `42.0`.
fn safe_integer(text: &str) -> Option<i64> {
    const MAX: i64 = (1 << 53) - 1;
    let (integer, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if fraction.is_empty() || fraction.bytes().any(|digit| digit != b'0') {
        return None;
    }
    let digits = integer.strip_prefix('-').unwrap_or(integer);
    let plain = digits == "0" || (digits.starts_with(|c: char| matches!(c, '1'..='9')));
    let number: i64 = integer.parse().ok()?;
    (plain && (-MAX..=MAX).contains(&number)).then_some(number)
}

/// Whether a text is a token of RFC 9110: what a header's name may be.
pub fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a text may be a tool's name: 1 to 128 ASCII letters, digits, underscores, hyphens and dots.
pub fn is_tool_name(text: &str) -> bool {
    (1..=128).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(value: &str) -> Result<String, HeaderFault> {
        decode_value(value.as_bytes()).map(Cow::into_owned)
    }

    fn matches(header: &str, body: &str) -> bool {
        matches_json(header, Raw::parse(body).unwrap())
    }

    /// The examples of the specification.
    const EXAMPLES: [(&str, &str); 5] = [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ];

    #[test]
    fn the_examples_of_the_specification_hold() {
        for (text, header) in EXAMPLES {
            assert_eq!(encode_value(text), header);
            assert_eq!(decode(header).as_deref(), Ok(text));
        }
    }

    #[test]
    fn plain_values_are_borrowed_and_trimmed() {
        assert!(matches!(decode_value(b" \ta b\tc \t"), Ok(Cow::Borrowed("a b\tc"))));
        assert_eq!(decode("").as_deref(), Ok(""));
        assert!(matches!(encode_value("a b\tc"), Cow::Borrowed("a b\tc")));
    }

    #[test]
    fn only_visible_ascii_space_and_tab_are_allowed() {
        for byte in 0..=255_u8 {
            let allowed = byte == b'\t' || (b' '..=b'~').contains(&byte);
            assert_eq!(decode_value(&[b'a', byte, b'b']).is_ok(), allowed, "{byte:#x}");
        }
        assert_eq!(decode("é"), Err(HeaderFault::InvalidCharacter));
    }

    #[test]
    fn base64_is_read_strictly() {
        use HeaderFault::*;
        for (value, fault) in [
            ("=?base64?YQ?=", InvalidBase64),
            ("=?base64?YQ=?=", InvalidBase64),
            ("=?base64?YR==?=", InvalidBase64),
            ("=?base64?Y_-=?=", InvalidBase64),
            ("=?base64?Y Q==?=", InvalidBase64),
            ("=?base64?YQ==YQ==?=", InvalidBase64),
            ("=?base64?/w==?=", InvalidUtf8),
        ] {
            assert_eq!(decode(value), Err(fault), "{value}");
        }
        assert_eq!(decode("=?base64??=").as_deref(), Ok(""));
    }

    #[test]
    fn what_only_resembles_the_markers_is_taken_as_it_is() {
        for value in
            ["=?BASE64?YQ==?=", "=?base64?YQ==", "x=?base64?YQ==?=", "=?base64?=", "=?base64?YQ==?=x"]
        {
            assert_eq!(decode(value).as_deref(), Ok(value));
        }
    }

    #[test]
    fn what_is_said_plainly_stands_for_itself() {
        assert!(says_plainly(b"tools/call", "tools/call") && says_plainly(b"", ""));
        for (value, text) in [
            ("a", "b"),
            ("a", "A"),
            ("a b", "a b"),
            (" a", "a"),
            ("\u{e9}", "\u{e9}"),
            ("=?base64?YQ==?=", "a"),
        ] {
            assert!(!says_plainly(value.as_bytes(), text), "{value:?}");
        }
        assert!(!says_plainly(b"=?base64?YQ==?=", "=?base64?YQ==?="));
    }

    #[test]
    fn strings_are_compared_exactly() {
        assert!(matches("a/\"é", r#""a\/\"\u00e9""#) && matches("a", r#""a""#) && matches("", r#""""#));
        assert!(!matches("A", r#""a""#) && !matches("a ", r#""a""#));
        assert!(!matches("1", r#""1.0""#) && !matches("1", r#""\ud800""#));
    }

    #[test]
    fn integers_are_compared_by_value() {
        for (header, body) in [
            ("42", "42"),
            ("42.0", "42"),
            ("42", "42.00"),
            ("-7", "-7"),
            ("-0", "0"),
            ("9007199254740991", "9007199254740991"),
            ("-9007199254740991.0", "-9007199254740991"),
        ] {
            assert!(matches(header, body), "{header} {body}");
        }
        for (header, body) in [
            ("41", "42"),
            ("42.5", "42.5"),
            ("042", "42"),
            ("+42", "42"),
            ("42.", "42"),
            (".0", "0"),
            ("4.2e1", "42"),
            ("", "0"),
            ("-", "0"),
            ("0x2a", "42"),
            ("9007199254740992", "9007199254740992"),
            ("9007199254740991.4", "9007199254740991"),
            ("99999999999999999999", "99999999999999999999"),
        ] {
            assert!(!matches(header, body), "{header} {body}");
        }
    }

    #[test]
    fn booleans_are_compared_as_words_and_the_rest_matches_nothing() {
        assert!(matches("true", "true") && matches("false", "false"));
        assert!(!matches("True", "true") && !matches("1", "true") && !matches("true", "false"));
        assert!(!matches("null", "null") && !matches("[]", "[]") && !matches("{}", "{}"));
    }

    #[test]
    fn tokens_are_those_of_http() {
        assert!(is_token("Region") && is_token("x-1_2!#$%&'*+.^`|~"));
        for text in ["", "a b", "a:b", "é", "a\n", "a/b", "\"a\"", "(a)"] {
            assert!(!is_token(text), "{text:?}");
        }
    }

    #[test]
    fn tool_names_are_those_of_the_specification() {
        for name in ["getUser", "DATA_EXPORT_v2", "admin.tools.list", "a-b", &"x".repeat(128)] {
            assert!(is_tool_name(name), "{name}");
        }
        for name in ["", "a b", "a,b", "a/b", "é", &"x".repeat(129)] {
            assert!(!is_tool_name(name), "{name}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_text_round_trips_as_a_valid_header(text: String, start in "(=\\?base64\\?)?", end in "(\\?=)?") {
            let text = format!("{start}{text}{end}");
            let header = encode_value(&text);
            prop_assert!(header.bytes().all(is_value_byte));
            prop_assert_eq!(header.trim_matches([' ', '\t']), &*header);
            prop_assert_eq!(decode(&header), Ok(text));
        }

        #[test]
        fn any_string_integer_or_boolean_matches_its_own_header(text: String, number in -(1_i64 << 53) + 1..1 << 53) {
            prop_assert!(matches(&text, &serde_json::Value::from(text.as_str()).to_string()));
            prop_assert!(matches(&number.to_string(), &number.to_string()));
            prop_assert!(!matches(&number.to_string(), &(number ^ 1).to_string()));
        }

        #[test]
        fn no_bytes_make_decoding_panic(value: Vec<u8>) {
            let _ = decode_value(&value);
        }
    }
}
