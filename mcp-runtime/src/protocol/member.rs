//! A member of an object as it was found: absent, null, of the wrong type, or a value.

use std::fmt;

use super::error::Fault;
use super::raw::Raw;

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

    /// The same with another value.
    pub(super) fn map<U>(self, map: impl FnOnce(T) -> U) -> Member<U> {
        match self {
            Self::Absent => Member::Absent,
            Self::Null => Member::Null,
            Self::Wrong(found) => Member::Wrong(found),
            Self::Value(value) => Member::Value(map(value)),
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
    pub(super) fn read<'a>(raw: Raw<'a>, read: impl FnOnce(Raw<'a>) -> Option<T>) -> Self {
        match raw.kind() {
            JsonType::Null => Self::Null,
            other => read(raw).map_or(Self::Wrong(other), Self::Value),
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

    #[test]
    fn what_cannot_be_read_is_of_the_wrong_type() {
        let read = |json| Member::read(Raw::parse(json).unwrap(), |raw| raw.get().parse::<u8>().ok());
        assert_eq!(read("7"), Member::Value(7));
        assert_eq!(read("700"), Member::Wrong(JsonType::Number));
        assert_eq!(read("\"7\""), Member::Wrong(JsonType::String));
        assert_eq!(read("null"), Member::Null);
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
