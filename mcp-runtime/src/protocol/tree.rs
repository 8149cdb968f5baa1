//! Checking a value that is kept as text: no key twice in an object, no bottomless nesting.

use std::borrow::Cow;
use std::fmt;

use super::json::push_pointer;
use super::plain::plain_end;

/// How deep containers may nest in one message.
pub const MAX_DEPTH: usize = 128;

/// Why a value is refused although it is JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeError {
    /// Containers nest too deeply.
    TooDeep,
    /// An object has a key twice; the JSON pointer leads from the value to that key.
    DuplicateKey(String),
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep => f.write_str("nested too deeply"),
            Self::DuplicateKey(pointer) => write!(f, "duplicate key at {pointer}"),
        }
    }
}

impl std::error::Error for TreeError {}

/// Refuses a JSON value that has an object with a key twice, or more than `depth` containers within one another.
///
/// The text has to be valid JSON; of any other text the answer means nothing.
///
/// # Errors
///
/// The first [`TreeError`] that is found.
pub fn check_tree(raw: &str, depth: usize) -> Result<(), TreeError> {
    TreeCheck::default().check(raw, depth)
}

/// [`check_tree`], with memory that is kept from one value to the next.
pub(super) struct TreeCheck<'a> {
    /// The keys so far of all open objects, outermost first.
    pub(super) keys: Vec<Cow<'a, str>>,
    open: Vec<Container>,
}

/// A container whose end is yet to come.
struct Container {
    kind: Kind,
    /// How many keys there were when it began.
    first_key: usize,
}

enum Kind {
    Object,
    Array { index: usize },
}

impl Default for TreeCheck<'_> {
    fn default() -> Self {
        // Enough for the keys of a usual request, so that memory is asked for once.
        Self { keys: Vec::with_capacity(16), open: Vec::new() }
    }
}

impl<'a> TreeCheck<'a> {
    /// Checks a value; `keys` is the same before and after.
    pub(super) fn check(&mut self, raw: &'a str, depth: usize) -> Result<(), TreeError> {
        let first_key = self.keys.len();
        let outcome = self.scan(raw, depth);
        self.keys.truncate(first_key);
        self.open.clear();
        outcome
    }

    fn scan(&mut self, raw: &'a str, depth: usize) -> Result<(), TreeError> {
        let bytes = raw.as_bytes();
        let mut expects_key = false;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'{' | b'[' if self.open.len() == depth => return Err(TreeError::TooDeep),
                b'{' => {
                    self.open.push(Container { kind: Kind::Object, first_key: self.keys.len() });
                    expects_key = true;
                }
                b'[' => {
                    self.open.push(Container { kind: Kind::Array { index: 0 }, first_key: self.keys.len() });
                    expects_key = false;
                }
                b'}' | b']' => self.close()?,
                b',' => match self.open.last_mut() {
                    Some(Container { kind: Kind::Array { index }, .. }) => {
                        *index += 1;
                        expects_key = false;
                    }
                    _ => expects_key = true,
                },
                b'"' => {
                    let end = string_end(bytes, at + 1);
                    if expects_key {
                        self.keys.push(key(raw, at, end));
                        expects_key = false;
                    }
                    at = end;
                }
                _ => {}
            }
            at += 1;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), TreeError> {
        let Some(container) = self.open.pop() else {
            return Ok(());
        };
        // Sorting the keys for this loses their order, which nobody needs once their object has ended.
        let duplicate = duplicates(&mut self.keys[container.first_key..]).first().map(|&key| key.to_owned());
        match duplicate {
            Some(key) => Err(TreeError::DuplicateKey(self.pointer(&container, &key))),
            None => {
                self.keys.truncate(container.first_key);
                Ok(())
            }
        }
    }

    /// Where a key of the container that just ended stands.
    fn pointer(&self, ended: &Container, key: &str) -> String {
        let mut pointer = String::new();
        let inner = self.open.iter().skip(1).chain([ended]);
        for (container, inner) in self.open.iter().zip(inner) {
            match container.kind {
                Kind::Array { index } => push_pointer(&mut pointer, itoa::Buffer::new().format(index)),
                // The last key before the inner container began is the one that it belongs to.
                Kind::Object => {
                    push_pointer(&mut pointer, self.keys[..inner.first_key].last().map_or("", |key| key))
                }
            }
        }
        push_pointer(&mut pointer, key);
        pointer
    }
}

/// The keys that stand more than once, each once. Sorts the keys unless they are few.
pub(super) fn duplicates<'k>(keys: &'k mut [Cow<'_, str>]) -> Vec<&'k str> {
    const FEW: usize = 8;
    if keys.len() <= FEW && (1..keys.len()).all(|at| !keys[..at].contains(&keys[at])) {
        return Vec::new();
    }
    keys.sort_unstable();
    keys.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| &*same[0]).collect()
}

/// Where the quote is that ends the string whose text begins at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = plain_end(bytes, at);
        match bytes.get(at) {
            Some(b'"') => return at,
            // A backslash, and what it escapes.
            Some(_) => at = bytes.len().min(at + 2),
            None => return bytes.len(),
        }
    }
}

/// The key whose quotes are at `start` and `end`.
fn key(raw: &str, start: usize, end: usize) -> Cow<'_, str> {
    let text = &raw[start + 1..end];
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    // What can't be decoded has half of a surrogate pair, and can't be read by anybody later either.
    let decoded = raw.get(start..=end).and_then(|literal| serde_json::from_str(literal).ok());
    decoded.map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::super::samples;
    use super::*;

    fn duplicate(pointer: &str) -> Result<(), TreeError> {
        Err(TreeError::DuplicateKey(pointer.to_owned()))
    }

    #[test]
    fn distinct_keys_pass() {
        for raw in [
            "1",
            "\"{\"",
            "[]",
            "{}",
            r#"{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}"#,
            r#"{"a":"a","b":["b","b","b"],"c":"\",\"a\":"}"#,
            r#"{"a\\":1,"a\"":2,"A":3,"a":4}"#,
            r#"[[{},"a"],"a",{"a":[]},"a"]"#,
        ] {
            assert_eq!(check_tree(raw, 9), Ok(()), "{raw}");
        }
    }

    #[test]
    fn duplicates_are_found_where_they_are() {
        assert_eq!(check_tree(r#"{"a":1,"b":2,"a":3}"#, 9), duplicate("/a"));
        assert_eq!(check_tree(r#"[0,{"k":{"x":[[],{"y":1,"y":1}]}}]"#, 9), duplicate("/1/k/x/1/y"));
        assert_eq!(check_tree(r#"{"a/b":{"~":{"":1,"":2}}}"#, 9), duplicate("/a~1b/~0/"));
        assert_eq!(check_tree("{\"a\" : {} ,\n\"a\" : []}", 9), duplicate("/a"));
    }

    #[test]
    fn keys_are_compared_as_text_not_as_they_are_escaped() {
        assert_eq!(check_tree(r#"{"a":1,"\u0061":2}"#, 9), duplicate("/a"));
        assert_eq!(check_tree(r#"{"\ud83d\ude00":1,"😀":2}"#, 9), duplicate("/😀"));
        assert_eq!(check_tree(r#"{"\ud83d":1,"\ud83e":2}"#, 9), Ok(()));
    }

    #[test]
    fn a_duplicate_among_many_keys_is_found() {
        let keys: Vec<String> = (0..1000).map(|n| format!("\"k{}\":0", n * 7919 % 1000)).collect();
        assert_eq!(check_tree(&format!("{{{}}}", keys.join(",")), 9), Ok(()));
        assert_eq!(check_tree(&format!("{{{},\"k500\":1}}", keys.join(",")), 9), duplicate("/k500"));
    }

    #[test]
    fn depth_is_counted_in_containers() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(check_tree(&nested(128), 128), Ok(()));
        assert_eq!(check_tree(&nested(129), 128), Err(TreeError::TooDeep));
        assert_eq!(check_tree(r#"{"a":[{}]}"#, 3), Ok(()));
        assert_eq!(check_tree(r#"{"a":[{}]}"#, 2), Err(TreeError::TooDeep));
        assert_eq!(check_tree("[[],[],[]]", 2), Ok(()));
        assert_eq!(check_tree("[]", 0), Err(TreeError::TooDeep));
    }

    #[test]
    fn endless_nesting_takes_no_stack() {
        assert_eq!(check_tree(&"[".repeat(1_000_000), usize::MAX), Ok(()));
    }

    #[test]
    fn long_strings_end_where_they_end() {
        for length in 0..100 {
            let text = "x".repeat(length);
            let raw = format!(r#"{{"a{text}\"":"{text}\\","b":"{text}","b":1}}"#);
            assert_eq!(check_tree(&raw, 9), duplicate("/b"), "{length}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn a_value_passes_until_any_one_key_is_doubled(value in samples::value(), pick: Index) {
            prop_assert_eq!(check_tree(&value.to_string(), 9), Ok(()));
            let keys = samples::keys(&value);
            prop_assume!(!keys.is_empty());
            let pointer = pick.get(&keys);
            prop_assert_eq!(check_tree(&samples::with_key_doubled(&value, pointer), 9), duplicate(pointer));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]{}\",:\\\\a é]{0,40}", depth in 0..5_usize) {
            let _ = check_tree(&text, depth);
        }
    }
}
