//! A JSON value that keeps its text.

use std::borrow::Cow;

use serde::de::IntoDeserializer;
use serde_json::value::RawValue;

use super::member::JsonType;

/// The text of one JSON value, without whitespace around it; known to be valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// What an object without members looks like.
    pub(super) const EMPTY_OBJECT: Self = Self("{}");

    /// The text of a value that has been read.
    pub(super) const fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// Reads one value.
    ///
    /// # Errors
    /// If the text is not JSON.
    pub fn parse(text: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str::<&RawValue>(text).map(Self::from)
    }

    /// The text.
    pub const fn get(self) -> &'a str {
        self.0
    }

    /// What the value says, if it is a string that can be decoded; borrowed unless it has escapes.
    pub fn text(self) -> Option<Cow<'a, str>> {
        let text = self.0.strip_prefix('"')?.strip_suffix('"')?;
        match text.contains('\\') {
            true => serde_json::from_str(self.0).map(Cow::Owned).ok(),
            false => Some(Cow::Borrowed(text)),
        }
    }

    /// The type of the value: its first byte tells.
    pub fn kind(self) -> JsonType {
        match self.0.as_bytes().first() {
            Some(b'{') => JsonType::Object,
            Some(b'[') => JsonType::Array,
            Some(b'"') => JsonType::String,
            Some(b't' | b'f') => JsonType::Boolean,
            Some(b'n') => JsonType::Null,
            _ => JsonType::Number,
        }
    }
}

impl<'a> From<&'a RawValue> for Raw<'a> {
    fn from(value: &'a RawValue) -> Self {
        Self(value.get())
    }
}

impl<'de> IntoDeserializer<'de, serde_json::Error> for Raw<'de> {
    type Deserializer = &'de RawValue;

    fn into_deserializer(self) -> Self::Deserializer {
        // It is valid.
        serde_json::from_str(self.0).unwrap_or(RawValue::NULL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_tells_the_type() {
        for (json, kind, text) in [
            ("null", JsonType::Null, "null"),
            ("true", JsonType::Boolean, "a boolean"),
            ("false", JsonType::Boolean, "a boolean"),
            ("-1", JsonType::Number, "a number"),
            ("0", JsonType::Number, "a number"),
            ("\"\"", JsonType::String, "a string"),
            ("[]", JsonType::Array, "an array"),
            ("{}", JsonType::Object, "an object"),
        ] {
            let raw = Raw::parse(json).unwrap();
            assert_eq!((raw.kind(), raw.get()), (kind, json));
            assert_eq!(kind.to_string(), text);
        }
    }

    #[test]
    fn text_is_borrowed_unless_it_has_escapes() {
        let text = |json| Raw::parse(json).unwrap().text();
        assert!(matches!(text(r#""é""#), Some(Cow::Borrowed("é"))));
        assert_eq!(text(r#""\u00e9\n""#).as_deref(), Some("é\n"));
        assert_eq!((text("null"), text("1"), text(r#""\udc00""#)), (None, None, None));
    }

    #[test]
    fn a_value_is_parsed_with_whitespace_around_it_and_alone() {
        assert_eq!(Raw::parse(" [1, 2]\n").unwrap().get(), "[1, 2]");
        assert!(Raw::parse("1 2").is_err() && Raw::parse("").is_err());
    }
}
