//! Long texts among the arguments, read faster than serde_json would.

use serde::de::{DeserializeOwned, Deserializer, Visitor, value::BorrowedStrDeserializer};

use crate::protocol::Raw;

/// From how many bytes on it pays.
const LONG: usize = 1024;

/// Reads a long string without escapes, if that is what `T` can be made of.
///
/// The JSON was scanned when the message was taken apart. serde_json would scan it once more, byte for byte; here it
/// is only searched for a backslash, which costs a tenth of that.
pub(super) fn parse_long<T: DeserializeOwned>(raw: Raw<'_>) -> Option<T> {
    let json = raw.get();
    if json.len() < LONG {
        return None;
    }
    let text = json.strip_prefix('"')?.strip_suffix('"')?;
    if has_backslash(text.as_bytes()) {
        return None;
    }
    T::deserialize(PlainText(text)).ok()
}

/// Block by block and without leaving a block early, so that the compiler compares many bytes at once.
fn has_backslash(text: &[u8]) -> bool {
    let (blocks, rest) = text.as_chunks::<64>();
    let within = |block: &[u8]| block.iter().fold(false, |found, &byte| found | (byte == b'\\'));
    blocks.iter().any(|block| within(block)) || within(rest)
}

/// A JSON string without escapes.
struct PlainText<'de>(&'de str);

impl<'de> Deserializer<'de> for PlainText<'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        BorrowedStrDeserializer::new(self.0).deserialize_enum(name, variants, visitor)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::Value;

    use super::*;

    fn long<T: DeserializeOwned>(json: &Value) -> Option<T> {
        parse_long(Raw::from(&*serde_json::value::to_raw_value(json).unwrap()))
    }

    #[test]
    fn it_reads_what_serde_json_reads() {
        #[derive(Deserialize, PartialEq, Debug)]
        struct Wrapped(Option<String>);
        let text = "é".repeat(LONG);
        assert_eq!(long::<String>(&text.clone().into()), Some(text.clone()));
        assert_eq!(long::<Option<Box<str>>>(&text.clone().into()), Some(Some(text.clone().into())));
        assert_eq!(long::<Wrapped>(&text.clone().into()), Some(Wrapped(Some(text.clone()))));
        assert_eq!(long::<Value>(&text.clone().into()), Some(text.into()));
    }

    #[test]
    fn it_leaves_the_rest_to_serde_json() {
        let text = "x".repeat(LONG);
        assert_eq!(long::<u32>(&text.clone().into()), None, "of another type");
        assert_eq!(long::<String>(&format!("{text}\n").into()), None, "with an escape");
        assert_eq!(long::<String>(&"short".into()), None);
        assert_eq!(long::<Vec<String>>(&vec![text].into()), None, "no string");
    }
}
