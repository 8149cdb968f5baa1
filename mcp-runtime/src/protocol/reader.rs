//! Reading JSON text value by value: its grammar (RFC 8259), and nothing of its meaning.

use std::borrow::Cow;

use super::plain::plain_end;
use super::raw::Raw;

/// Reads a text from its beginning to its end.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// The text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Syntax;

/// A string as it is written.
#[derive(Clone, Copy)]
pub(super) struct Literal<'a> {
    raw: Raw<'a>,
    escaped: bool,
}

type Read<T> = Result<T, Syntax>;

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The first byte of what comes next, after whitespace.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Goes past a byte, if it comes next.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    /// Goes past a byte that has to come next.
    pub(super) fn expect(&mut self, byte: u8) -> Read<()> {
        if self.take(byte) { Ok(()) } else { Err(Syntax) }
    }

    /// Goes past the end of a container, or past the comma before what else is in it. Returns whether it ended.
    pub(super) fn ends(&mut self, end: u8) -> Read<bool> {
        let next = self.peek();
        self.at += 1;
        match next {
            Some(b',') => Ok(false),
            Some(byte) if byte == end => Ok(true),
            _ => Err(Syntax),
        }
    }

    /// Whether nothing is left.
    pub(super) fn finish(&mut self) -> Read<()> {
        if self.peek().is_none() { Ok(()) } else { Err(Syntax) }
    }

    /// Where the value begins that comes next.
    pub(super) fn position(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// The value that began at a position and has just been read.
    pub(super) fn since(&self, start: usize) -> Raw<'a> {
        Raw::new(&self.text[start..self.at])
    }

    /// A string.
    pub(super) fn string(&mut self) -> Read<Literal<'a>> {
        let start = self.position();
        let mut escaped = false;
        self.expect(b'"')?;
        loop {
            self.at = plain_end(self.text.as_bytes(), self.at);
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Literal { raw: self.since(start), escaped });
                }
                Some(b'\\') => self.escape()?,
                // A control character, or the end.
                _ => return Err(Syntax),
            }
            escaped = true;
        }
    }

    /// A member's name, and the colon behind it.
    #[inline]
    pub(super) fn name(&mut self) -> Read<Literal<'a>> {
        let name = self.string()?;
        self.expect(b':')?;
        Ok(name)
    }

    /// Goes past a value that is no container.
    pub(super) fn scalar(&mut self) -> Read<()> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => Err(Syntax),
        }
    }

    fn word(&mut self, word: &str) -> Read<()> {
        let found = self.text[self.at..].starts_with(word);
        self.at += word.len();
        if found { Ok(()) } else { Err(Syntax) }
    }

    fn number(&mut self) -> Read<()> {
        self.skip(b"-");
        // No digit may follow on a leading zero.
        if !self.skip(b"0") {
            self.digits()?;
        }
        if self.skip(b".") {
            self.digits()?;
        }
        if self.skip(b"eE") {
            self.skip(b"+-");
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Read<()> {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count > 0 { Ok(()) } else { Err(Syntax) }
    }

    /// Goes past the next byte, if it is one of these.
    fn skip(&mut self, bytes: &[u8]) -> bool {
        let found = self.byte().is_some_and(|byte| bytes.contains(&byte));
        self.at += usize::from(found);
        found
    }

    /// Goes past a backslash and what it escapes. Halves of surrogate pairs are found when the text is decoded.
    fn escape(&mut self) -> Read<()> {
        let digits = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
        self.at += match &self.text.as_bytes()[self.at + 1..] {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', code @ ..] if code.get(..4).is_some_and(digits) => 6,
            _ => return Err(Syntax),
        };
        Ok(())
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

impl<'a> Literal<'a> {
    /// What the string says, borrowed unless it has escapes.
    ///
    /// # Errors
    /// If an escape is half of a surrogate pair.
    pub(super) fn text(self) -> serde_json::Result<Cow<'a, str>> {
        let literal = self.raw.get();
        if self.escaped {
            return serde_json::from_str(literal).map(Cow::Owned);
        }
        Ok(Cow::Borrowed(&literal[1..literal.len() - 1]))
    }

    /// What the string says, or how it is written if nothing can say it.
    pub(super) fn text_or_written(self) -> Cow<'a, str> {
        let written = self.raw.get();
        self.text().unwrap_or_else(|_| Cow::Borrowed(&written[1..written.len() - 1]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;
    use serde::de::IgnoredAny;

    use super::super::samples;
    use super::super::split::{Failure, Scan};
    use super::*;

    /// Reads one value, and nothing of its meaning.
    fn read(text: &str) -> Result<Raw<'_>, Failure> {
        Scan::new(text).value()
    }

    #[test]
    fn values_are_read_without_the_whitespace_around_them() {
        for value in ["null", "-0.5e+10", r#""\u00e9\n😀""#, "[ ]", r#"{"a" : [1 , {}], "b":{"c":false}}"#]
        {
            assert_eq!(read(&format!(" \r\n\t{value}\n ")).unwrap(), Raw::new(value));
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            " ",
            "nul",
            "nulL",
            "truex",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "1e+",
            "+1",
            "\"",
            "\"\\\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\u123",
            "\"\u{1}\"",
            "\"\t\"",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1}",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\" 1}",
            "{\"a\":1]",
            "{1:1}",
            "{}{}",
            "]",
            "}",
            ":",
            ",",
            "'a'",
            "\u{feff}{}",
            "é",
            "NaN",
            "/**/1",
        ] {
            assert!(matches!(read(text), Err(Failure::Syntax)), "{text:?}");
            assert!(serde_json::from_str::<IgnoredAny>(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn every_byte_is_judged_alike_wherever_it_stands() {
        for character in (0..0x250).filter_map(char::from_u32) {
            for (before, after) in [(0, 0), (3, 90), (7, 0), (8, 8), (63, 1), (64, 64), (101, 7), (200, 40)] {
                let text = format!("\"{}{character}{}\"", "x".repeat(before), "y".repeat(after));
                let valid = serde_json::from_str::<IgnoredAny>(&text).is_ok();
                assert_eq!(read(&text).is_ok(), valid, "{text:?}");
            }
        }
    }

    #[test]
    fn literals_are_borrowed_unless_they_have_escapes() {
        let text = |literal| Reader::new(literal).string().unwrap().text();
        assert!(matches!(text(r#""é""#).unwrap(), Cow::Borrowed("é")));
        assert_eq!(text(r#""\u00e9\n""#).unwrap(), "é\n");
        assert!(text(r#""\udc00""#).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn it_agrees_with_serde_json_on_any_text(text in "[\\[\\]{}\":,\\\\ a0-2.eE+\\-tnul]{0,12}") {
            let judged = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(read(&text).is_ok(), judged);
        }

        #[test]
        fn it_agrees_with_serde_json_on_damaged_values(
            value in samples::value(), pretty: bool, at: Index, with in "[\\[\\]{}\":,\\\\ a0.e\\-é]{0,2}", end: Index,
        ) {
            let mut text = if pretty { format!("{value:#}") } else { value.to_string() };
            prop_assert_eq!(read(&text).unwrap(), Raw::new(&text));
            let from = text.floor_char_boundary(at.index(text.len()));
            let to = text.floor_char_boundary(from + end.index(4).min(text.len() - from));
            text.replace_range(from..to, &with);
            let judged = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(read(&text).is_ok(), judged, "{}", text);
        }
    }
}
