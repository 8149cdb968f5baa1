//! Request ids and progress tokens: a string or an integer, chosen by the client and given back as it is.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{self, Serialize, Serializer};
use serde_json::value::RawValue;

use super::json;

/// The value is not a string or an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnId;

impl fmt::Display for NotAnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a string or an integer")
    }
}

impl std::error::Error for NotAnId {}

/// What both kinds of identifier are.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Identifier {
    Integer(i64),
    /// Canonical JSON text: of a string, or of an integer that `i64` can't hold.
    Text(Box<str>),
}

impl Identifier {
    fn from_json(raw: &str) -> Result<Self, NotAnId> {
        match raw.as_bytes() {
            [b'"', ..] if raw.contains('\\') => {
                serde_json::from_str::<String>(raw).map(|text| Self::from_text(&text)).map_err(|_| NotAnId)
            }
            // Without an escape the literal is canonical as it is.
            [b'"', .., b'"'] => Ok(Self::Text(raw.into())),
            [b'-', digits @ ..] | digits if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                Ok(raw.parse().map_or_else(|_| Self::Text(raw.into()), Self::Integer))
            }
            _ => Err(NotAnId),
        }
    }

    fn from_text(text: &str) -> Self {
        let mut literal = Vec::new();
        json::write_string(&mut literal, text);
        Self::Text(String::from_utf8_lossy(&literal).into())
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Integer(number) => json::write_i64(out, *number),
            Self::Text(literal) => out.extend_from_slice(literal.as_bytes()),
        }
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Text(literal) => f.pad(literal),
        }
    }
}

impl Serialize for Identifier {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Integer(number) => serializer.serialize_i64(*number),
            Self::Text(literal) => match serde_json::from_str::<Cow<'_, str>>(literal) {
                Ok(text) => serializer.serialize_str(&text),
                // An integer that `i64` can't hold.
                Err(_) => serde_json::from_str::<&RawValue>(literal)
                    .map_err(ser::Error::custom)
                    .and_then(|number| number.serialize(serializer)),
            },
        }
    }
}

impl<'de> Deserialize<'de> for Identifier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IdentifierVisitor;

        impl Visitor<'_> for IdentifierVisitor {
            type Value = Identifier;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an integer")
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Identifier, E> {
                Ok(Identifier::Integer(number))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Identifier, E> {
                Ok(i64::try_from(number)
                    .map_or_else(|_| Identifier::Text(number.to_string().into()), Identifier::Integer))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Identifier, E> {
                Ok(Identifier::from_text(text))
            }
        }

        deserializer.deserialize_any(IdentifierVisitor)
    }
}

macro_rules! identifier {
    ($(#[$documentation:meta])* $name:ident) => {
        $(#[$documentation])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(Identifier);

        impl $name {
            /// Reads JSON text that is known to be one valid value without surrounding whitespace.
            ///
            /// # Errors
            ///
            /// [`NotAnId`] for everything but a string or an integer: a fraction, an exponent, `null` and containers.
            pub fn from_json(raw: &str) -> Result<Self, NotAnId> {
                Identifier::from_json(raw).map(Self)
            }

            /// Appends the JSON value.
            pub fn write_json(&self, out: &mut Vec<u8>) {
                self.0.write_json(out);
            }
        }

        impl From<i64> for $name {
            fn from(number: i64) -> Self {
                Self(Identifier::Integer(number))
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Identifier::from_text(text))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Identifier::from_text(&text))
            }
        }

        /// The JSON text.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Identifier::deserialize(deserializer).map(Self)
            }
        }
    };
}

identifier! {
    /// The id of a request: a string or an integer, never `null`.
    ///
    /// `1` and `"1"` are different ids; `"A"` and `"\u0041"` are the same. An integer of any size is kept exactly.
    RequestId
}

identifier! {
    /// The token that a client sends to be told of progress, and that every progress notification carries.
    ProgressToken
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn id(raw: &str) -> RequestId {
        RequestId::from_json(raw).unwrap()
    }

    fn written(id: &RequestId) -> String {
        let mut out = Vec::new();
        id.write_json(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_and_integers_are_given_back_as_they_are() {
        for raw in [
            "0",
            "-1",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "123456789012345678901234567890",
            r#""""#,
            r#""a b""#,
            r#""é\n\"""#,
        ] {
            assert_eq!(written(&id(raw)), raw);
            assert_eq!(id(raw).to_string(), raw);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for raw in ["null", "true", "1.0", "1e3", "-", "[]", "{}", "", "\"", r#""\ud800""#] {
            assert_eq!(RequestId::from_json(raw), Err(NotAnId), "{raw}");
            assert_eq!(ProgressToken::from_json(raw), Err(NotAnId), "{raw}");
        }
    }

    #[test]
    fn a_number_and_its_digits_are_different_ids() {
        assert_ne!(id("1"), id(r#""1""#));
        assert_ne!(id("9223372036854775808"), id(r#""9223372036854775808""#));
        assert_eq!(id("-0"), id("0"));
    }

    #[test]
    fn ids_are_equal_however_they_are_escaped() {
        let ids: HashSet<_> = [r#""A/""#, r#""\u0041\/""#, r#""\u0041/""#].into_iter().map(id).collect();
        assert_eq!(ids.len(), 1);
        assert_eq!(ids.iter().next(), Some(&RequestId::from("A/")));
        assert_eq!(written(&id(r#""\u0001\u000a""#)), r#""\u0001\n""#);
    }

    #[test]
    fn serde_agrees() {
        for raw in ["7", "18446744073709551615", r#""x\"y""#] {
            assert_eq!(serde_json::from_str::<RequestId>(raw).unwrap(), id(raw));
            assert_eq!(serde_json::to_string(&id(raw)).unwrap(), raw);
        }
        let huge = "123456789012345678901234567890";
        assert_eq!(serde_json::to_string(&id(huge)).unwrap(), huge);
        assert_eq!(serde_json::to_value(ProgressToken::from("t")).unwrap(), json!("t"));
        for raw in ["null", "1.5", "true", "[1]"] {
            assert!(serde_json::from_str::<ProgressToken>(raw).is_err(), "{raw}");
        }
    }

    #[test]
    fn conversions_keep_the_kind() {
        assert_eq!(RequestId::from(5), id("5"));
        assert_eq!(RequestId::from("5"), id(r#""5""#));
        assert_eq!(RequestId::from("5".to_owned()), id(r#""5""#));
        assert_eq!(format!("{:?}", RequestId::from("5")), r#"RequestId("5")"#);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn any_string_and_any_integer_round_trips(text: String, number: i64) {
            for value in [json!(text), json!(number)] {
                let raw = value.to_string();
                prop_assert_eq!(written(&id(&raw)), raw);
            }
            prop_assert_eq!(RequestId::from(&*text), id(&json!(text).to_string()));
        }
    }
}
