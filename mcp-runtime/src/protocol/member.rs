//! A member of an object as it was found: absent, null, of the wrong type, or a value.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use super::error::Fault;

/// What an object holds under a known key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Member<T> {
    /// The key is not there.
    #[default]
    Absent,
    /// The value is `null`.
    Null,
    /// The value can't be a `T`; its JSON type.
    Wrong(JsonType),
    /// The value.
    Value(T),
}

impl<T> Member<T> {
    /// The value, if there is one of the right type.
    pub fn value(&self) -> Option<&T> {
        self.as_ref().into_value()
    }

    /// The value, if there is one of the right type.
    pub fn into_value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            _ => None,
        }
    }

    /// The same with the value borrowed.
    pub fn as_ref(&self) -> Member<&T> {
        match self {
            Self::Absent => Member::Absent,
            Self::Null => Member::Null,
            Self::Wrong(found) => Member::Wrong(*found),
            Self::Value(value) => Member::Value(value),
        }
    }

    /// Whether the key is not there.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The value of a required member.
    ///
    /// # Errors
    ///
    /// A [`Fault`] at the JSON pointer `at` that says what was `expected` ("a string") and what was found.
    pub fn required(&self, at: &str, expected: &str) -> Result<&T, Fault> {
        self.as_ref().into_required(at, expected)
    }

    /// The value of an optional member: an absent one has none, but `null` is no value.
    ///
    /// # Errors
    ///
    /// As [`required`](Self::required).
    pub fn optional(&self, at: &str, expected: &str) -> Result<Option<&T>, Fault> {
        self.as_ref().into_optional(at, expected)
    }

    /// [`required`](Self::required), by value.
    ///
    /// # Errors
    ///
    /// As [`required`](Self::required).
    pub fn into_required(self, at: &str, expected: &str) -> Result<T, Fault> {
        let found = match self {
            Self::Value(value) => return Ok(value),
            Self::Absent => return Err(Fault::new(at, format!("missing: expected {expected}"))),
            Self::Null => JsonType::Null,
            Self::Wrong(found) => found,
        };
        Err(Fault::new(at, format!("expected {expected}, found {found}")))
    }

    /// [`optional`](Self::optional), by value.
    ///
    /// # Errors
    ///
    /// As [`required`](Self::required).
    pub fn into_optional(self, at: &str, expected: &str) -> Result<Option<T>, Fault> {
        if self.is_absent() { Ok(None) } else { self.into_required(at, expected).map(Some) }
    }

    /// Reads a value; where `read` has none, it is of the wrong type.
    pub(super) fn read(raw: &RawValue, read: impl FnOnce() -> Option<T>) -> Self {
        match JsonType::of(raw) {
            JsonType::Null => Self::Null,
            other => read().map_or(Self::Wrong(other), Self::Value),
        }
    }
}

impl<'a> Member<&'a RawValue> {
    /// An object, its text kept as it is.
    pub(super) fn object(raw: &'a RawValue) -> Self {
        Self::read(raw, || (JsonType::of(raw) == JsonType::Object).then_some(raw))
    }
}

impl<'a> Member<Cow<'a, str>> {
    /// A string, borrowed unless it has escapes.
    ///
    /// # Errors
    ///
    /// If an escape is half of a surrogate pair.
    pub(super) fn text(raw: &'a RawValue) -> serde_json::Result<Self> {
        let literal = raw.get();
        match JsonType::of(raw) {
            JsonType::Null => Ok(Self::Null),
            JsonType::String if literal.contains('\\') => {
                serde_json::from_str(literal).map(|text| Self::Value(Cow::Owned(text)))
            }
            JsonType::String => Ok(Self::Value(Cow::Borrowed(&literal[1..literal.len() - 1]))),
            other => Ok(Self::Wrong(other)),
        }
    }
}

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JsonType {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonType {
    /// The type of a value: its first byte tells.
    pub fn of(raw: &RawValue) -> Self {
        match raw.get().as_bytes().first() {
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b'"') => Self::String,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') => Self::Null,
            _ => Self::Number,
        }
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> &RawValue {
        serde_json::from_str(json).unwrap()
    }

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
            assert_eq!(JsonType::of(raw(json)), kind);
            assert_eq!(kind.to_string(), text);
        }
    }

    #[test]
    fn text_is_borrowed_unless_it_has_escapes() {
        assert!(matches!(Member::text(raw(r#""é""#)).unwrap(), Member::Value(Cow::Borrowed("é"))));
        assert_eq!(Member::text(raw(r#""\u00e9\n""#)).unwrap(), Member::Value(Cow::from("é\n")));
        assert_eq!(Member::text(raw("null")).unwrap(), Member::Null);
        assert_eq!(Member::text(raw("1")).unwrap(), Member::Wrong(JsonType::Number));
        assert!(Member::text(raw(r#""\udc00""#)).is_err());
    }

    #[test]
    fn only_an_object_is_an_object() {
        assert_eq!(Member::object(raw("{}")).value().map(|raw| raw.get()), Some("{}"));
        assert!(matches!(Member::object(raw("[]")), Member::Wrong(JsonType::Array)));
        assert!(matches!(Member::object(raw("null")), Member::Null));
    }

    #[test]
    fn a_required_member_is_there() {
        let fault = |member: Member<u8>| member.required("/a", "a digit").unwrap_err().to_string();
        assert_eq!(Member::Value(1).required("/a", "a digit"), Ok(&1));
        assert_eq!(fault(Member::Absent), "/a: missing: expected a digit");
        assert_eq!(fault(Member::Null), "/a: expected a digit, found null");
        assert_eq!(fault(Member::Wrong(JsonType::Array)), "/a: expected a digit, found an array");
    }

    #[test]
    fn an_optional_member_may_be_absent_but_not_null() {
        assert_eq!(Member::Value(1).optional("/a", "a digit"), Ok(Some(&1)));
        assert_eq!(Member::<u8>::Absent.optional("/a", "a digit"), Ok(None));
        assert!(Member::<u8>::Null.optional("/a", "a digit").is_err());
    }
}
