//! Writing JSON by hand.

use serde::Serialize;
use serde_json::{Map, Value};

use super::plain::{BLOCK, is_plain, needs_escape};

/// Appends a string literal, quotes included.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    // With room for some escapes, and for what follows: a long text is not to be moved again.
    out.reserve(bytes.len() + bytes.len() / 16 + 64);
    out.push(b'"');
    // Plain blocks are only counted; what lies between two others is copied at once.
    let mut written = 0;
    let mut write_block = |at: usize, block: &[u8]| {
        out.extend_from_slice(&bytes[written..at]);
        write_escaped(out, block);
        written = at + block.len();
    };
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for (index, block) in blocks.iter().enumerate() {
        if !is_plain(block) {
            write_block(index * BLOCK, block);
        }
    }
    if !is_plain(rest) {
        write_block(bytes.len() - rest.len(), rest);
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

/// Appends at most a block of text, escaped.
fn write_escaped(out: &mut Vec<u8>, block: &[u8]) {
    // One bit for each byte to escape, so that the bytes between them are not looked at one by one.
    let mut marks = 0_u32;
    for (at, &byte) in block.iter().enumerate() {
        marks |= u32::from(needs_escape(byte)) << at;
    }
    let mut written = 0;
    while marks != 0 {
        let at = marks.trailing_zeros() as usize;
        out.extend_from_slice(&block[written..at]);
        write_escape(out, block[at]);
        written = at + 1;
        marks &= marks - 1;
    }
    out.extend_from_slice(&block[written..]);
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            let [high, low] = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Appends an integer.
pub fn write_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends an unsigned integer.
pub fn write_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a number: the shortest text that reads back as the same value, without a fraction for an integer.
///
/// JSON has no text for infinity and NaN; `null` takes their place.
pub fn write_f64(out: &mut Vec<u8>, value: f64) {
    /// Up to here a double holds every integer.
    const EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;
    if value.fract() == 0.0 && value.abs() <= EXACT {
        write_i64(out, value as i64);
    } else {
        write_serialized(out, &value);
    }
}

/// Appends what serde makes of a value. Only for values that are JSON by their type: a failure leaves `null`.
pub(super) fn write_serialized(out: &mut Vec<u8>, value: &impl Serialize) {
    let before = out.len();
    if serde_json::to_writer(&mut *out, value).is_err() {
        out.truncate(before);
        out.extend_from_slice(b"null");
    }
}

/// Appends the member `_meta` with a comma before it, unless there is nothing in it.
pub(super) fn write_meta(out: &mut Vec<u8>, meta: &Map<String, Value>) {
    if !meta.is_empty() {
        out.extend_from_slice(br#","_meta":"#);
        write_serialized(out, meta);
    }
}

/// Appends items with commas between them.
pub(super) fn write_joined<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
}

/// Appends a reference token to a JSON pointer (RFC 6901).
pub(super) fn push_pointer(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn string(text: &str) -> String {
        let mut out = Vec::new();
        write_string(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    fn number(value: f64) -> String {
        let mut out = Vec::new();
        write_f64(&mut out, value);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_byte_is_written_as_serde_does_wherever_it_stands() {
        for character in (0..0x250).filter_map(char::from_u32) {
            for before in [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 5] {
                let text = format!("{}{character}{}", "x".repeat(before), "y".repeat(BLOCK));
                assert_eq!(string(&text), serde_json::to_string(&text).unwrap());
            }
        }
    }

    #[test]
    fn a_string_is_appended() {
        let mut out = b"[".to_vec();
        write_string(&mut out, "");
        assert_eq!(out, b"[\"\"");
    }

    #[test]
    fn integers_have_no_fraction() {
        assert_eq!(number(0.0), "0");
        assert_eq!(number(-0.0), "0");
        assert_eq!(number(-12.0), "-12");
        assert_eq!(number(9_007_199_254_740_992.0), "9007199254740992");
    }

    #[test]
    fn other_numbers_read_back_as_the_same() {
        for value in [0.1, -2.5, 1e300, 5e-324, f64::MAX, 1.0 / 3.0, 1e17] {
            assert_eq!(number(value).parse(), Ok(value));
        }
    }

    #[test]
    fn what_is_no_number_is_null() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(number(value), "null");
        }
    }

    #[test]
    fn integers_are_written_whole() {
        let mut out = Vec::new();
        write_i64(&mut out, i64::MIN);
        write_u64(&mut out, u64::MAX);
        assert_eq!(out, b"-922337203685477580818446744073709551615");
    }

    #[test]
    fn what_cannot_be_serialised_leaves_null() {
        let mut out = b"x".to_vec();
        write_serialized(&mut out, &std::collections::HashMap::from([([1], 1)]));
        assert_eq!(out, b"xnull");
    }

    #[test]
    fn pointers_are_escaped() {
        let mut pointer = String::new();
        push_pointer(&mut pointer, "a/b~c");
        push_pointer(&mut pointer, "");
        assert_eq!(pointer, "/a~1b~0c/");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn strings_are_written_as_serde_does(text: String, dense in "[\"\\\\\n\u{1}a]{0,100}") {
            for text in [&text, &dense, &format!("{dense}{text}{dense}")] {
                prop_assert_eq!(string(text), serde_json::to_string(text).unwrap());
            }
        }

        #[test]
        fn numbers_read_back_as_the_same_value(value in prop::num::f64::NORMAL) {
            prop_assert_eq!(number(value).parse(), Ok(value));
        }
    }
}
