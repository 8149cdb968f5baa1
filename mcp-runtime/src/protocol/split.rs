//! Taking objects apart while the body is scanned, so that it is scanned once.
//!
//! An object of interest is a [`Split`]: it gets its members one by one, each as a [`Slot`] that it fills either by
//! splitting further or with the raw text of a leaf. Whatever is read, duplicate keys become faults and nesting is
//! bounded.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::error::Error as JsonError;

use super::error::Fault;
use super::json;
use super::member::{JsonType, Member};
use super::raw::Raw;
use super::reader::{Reader, Syntax};

/// How deep containers may nest in one message.
pub const MAX_DEPTH: usize = 128;

/// An object that is taken apart while it is scanned.
pub(super) trait Split<'a>: Default {
    /// Takes one member. The slot has to be read, wanted or not.
    fn member(&mut self, key: &str, slot: Slot<'_, 'a>) -> Result<(), Failure>;
}

/// Why a scan ends early.
#[derive(Debug)]
pub(super) enum Failure {
    /// The text is not JSON.
    Syntax,
    /// A string or a number that nothing can hold.
    Value(JsonError),
    /// Containers nest too deeply at a JSON pointer.
    TooDeep(String),
}

impl From<JsonError> for Failure {
    fn from(error: JsonError) -> Self {
        Self::Value(error)
    }
}

/// One scan of a text, and what it gathers.
pub(super) struct Scan<'a> {
    pub(super) faults: Vec<Fault>,
    reader: Reader<'a>,
    /// The keys so far of all open objects, outermost first.
    keys: Vec<Cow<'a, str>>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        // Enough for the keys of a usual request, so that memory is asked for once.
        Self { faults: Vec::new(), reader: Reader::new(text), keys: Vec::with_capacity(16) }
    }

    /// Splits the whole text.
    pub(super) fn split<T: Split<'a>>(&mut self, place: &mut Member<T>) -> Result<(), Failure> {
        self.any(Path::ROOT, place)?;
        Ok(self.reader.finish()?)
    }

    /// Any value, whose text is the whole text; for tests of the grammar.
    #[cfg(test)]
    pub(super) fn value(mut self) -> Result<Raw<'a>, Failure> {
        let raw = self.raw(Path::ROOT)?;
        self.reader.finish()?;
        Ok(raw)
    }

    /// Reads an object as a `T`, and anything else as what it is. The result is made in its place: some are large.
    fn any<T: Split<'a>>(&mut self, path: Path<'_>, place: &mut Member<T>) -> Result<(), Failure> {
        match self.reader.peek() {
            Some(b'{') => {
                *place = Member::Value(T::default());
                let Member::Value(object) = place else { return Ok(()) };
                self.object(path, object)
            }
            Some(b'[') => {
                *place = Member::Wrong(JsonType::Array);
                self.array(path)
            }
            _ => {
                let raw = self.raw(path)?;
                // What no value can hold is refused here, too.
                let value: Value = serde_json::from_str(raw.get())?;
                *place = if value.is_null() { Member::Null } else { Member::Wrong(raw.kind()) };
                Ok(())
            }
        }
    }

    fn object<T: Split<'a>>(&mut self, path: Path<'_>, object: &mut T) -> Result<(), Failure> {
        let first_key = self.keys.len();
        self.reader.expect(b'{')?;
        let mut ended = self.reader.take(b'}');
        while !ended {
            let key = self.reader.name()?.text()?;
            object.member(&key, Slot { scan: self, key: &key, path: path.child(Step::Key(&key)) })?;
            self.keys.push(key);
            ended = self.reader.ends(b'}')?;
        }
        self.forget_keys(path, first_key);
        Ok(())
    }

    /// Goes past an object of which nothing is wanted. As deep as containers may nest, so deep it calls itself.
    fn skip_object(&mut self, path: Path<'_>) -> Result<(), Failure> {
        let first_key = self.keys.len();
        self.reader.expect(b'{')?;
        let mut ended = self.reader.take(b'}');
        while !ended {
            let key = self.reader.name()?.text_or_written();
            self.skip(path.child(Step::Key(&key)))?;
            self.keys.push(key);
            ended = self.reader.ends(b'}')?;
        }
        self.forget_keys(path, first_key);
        Ok(())
    }

    /// Tells which keys of an object that has ended stand more than once. Sorting them for this loses their order,
    /// which nobody needs any more.
    fn forget_keys(&mut self, path: Path<'_>, first: usize) {
        if self.keys.len() - first < 2 {
            return self.keys.truncate(first);
        }
        for key in duplicates(&mut self.keys[first..]) {
            // More are not told.
            if self.faults.len() < Fault::MOST {
                self.faults.push(Fault::new(path.child(Step::Key(key)).pointer(), "duplicate key"));
            }
        }
        self.keys.truncate(first);
    }

    fn array(&mut self, path: Path<'_>) -> Result<(), Failure> {
        self.reader.expect(b'[')?;
        let mut ended = self.reader.take(b']');
        let mut index = 0;
        while !ended {
            self.skip(path.child(Step::Index(index)))?;
            index += 1;
            ended = self.reader.ends(b']')?;
        }
        Ok(())
    }

    fn raw(&mut self, path: Path<'_>) -> Result<Raw<'a>, Failure> {
        let start = self.reader.position();
        self.skip(path)?;
        Ok(self.reader.since(start))
    }

    /// Goes past any value.
    fn skip(&mut self, path: Path<'_>) -> Result<(), Failure> {
        match self.reader.peek() {
            Some(b'{' | b'[') if path.depth == MAX_DEPTH => Err(Failure::TooDeep(path.pointer())),
            Some(b'{') => self.skip_object(path),
            Some(b'[') => self.array(path),
            _ => Ok(self.reader.scalar()?),
        }
    }
}

impl From<Syntax> for Failure {
    fn from(Syntax: Syntax) -> Self {
        Self::Syntax
    }
}

/// The keys that stand more than once, each once. Sorts the keys unless they are few.
fn duplicates<'k>(keys: &'k mut [Cow<'_, str>]) -> Vec<&'k str> {
    const FEW: usize = 8;
    if keys.len() <= FEW && (1..keys.len()).all(|at| !keys[..at].contains(&keys[at])) {
        return Vec::new();
    }
    keys.sort_unstable();
    keys.chunk_by(|a, b| a == b).filter(|same| same.len() > 1).map(|same| &*same[0]).collect()
}

/// Where a value stands: a list that lives on the stack, made a string only for a fault.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
    /// How many containers are around the value.
    depth: usize,
}

/// The way from a container to what is in it.
#[derive(Clone, Copy)]
enum Step<'p> {
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    const ROOT: Self = Self { parent: None, step: Step::Index(0), depth: 0 };

    fn child(&'p self, step: Step<'p>) -> Self {
        Self { parent: Some(self), step, depth: self.depth + 1 }
    }

    fn pointer(&self) -> String {
        let Some(parent) = self.parent else {
            return String::new();
        };
        let mut pointer = parent.pointer();
        match self.step {
            Step::Key(key) => json::push_pointer(&mut pointer, key),
            Step::Index(index) => json::push_pointer(&mut pointer, itoa::Buffer::new().format(index)),
        }
        pointer
    }
}

/// The place of a member's value, to be read exactly once.
pub(super) struct Slot<'s, 'a> {
    scan: &'s mut Scan<'a>,
    key: &'s Cow<'a, str>,
    path: Path<'s>,
}

impl<'a> Slot<'_, 'a> {
    /// The member's name, to keep.
    pub(super) fn key(&self) -> Cow<'a, str> {
        self.key.clone()
    }

    /// Any value, as its text.
    pub(super) fn raw(self) -> Result<Raw<'a>, Failure> {
        self.scan.raw(self.path)
    }

    /// A string.
    pub(super) fn text(self) -> Result<Member<Cow<'a, str>>, Failure> {
        match self.scan.reader.peek() {
            Some(b'"') => Ok(Member::Value(self.scan.reader.string()?.text()?)),
            _ => Ok(Member::read(self.raw()?, |_| None)),
        }
    }

    /// An object, as its text.
    pub(super) fn raw_object(self) -> Result<Member<Raw<'a>>, Failure> {
        self.read(|raw| (raw.kind() == JsonType::Object).then_some(raw))
    }

    /// A leaf that `read` makes a value of.
    pub(super) fn read<T>(self, read: impl FnOnce(Raw<'a>) -> Option<T>) -> Result<Member<T>, Failure> {
        Ok(Member::read(self.raw()?, read))
    }

    /// An object, split in turn; its text, whatever it is.
    pub(super) fn split<T: Split<'a>>(self, place: &mut Member<T>) -> Result<Raw<'a>, Failure> {
        let start = self.scan.reader.position();
        self.scan.any(self.path, place)?;
        Ok(self.scan.reader.since(start))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::super::samples;
    use super::*;

    /// Where a value has keys twice.
    fn doubled(text: &str) -> Vec<String> {
        let mut scan = Scan::new(text);
        scan.raw(Path::ROOT).unwrap();
        assert!(scan.keys.is_empty());
        scan.faults.into_iter().map(|fault| fault.at).collect()
    }

    /// An object of which `inner` is split and everything else noted.
    #[derive(Debug, Default)]
    struct Noted<'a> {
        inner: Member<Box<Noted<'a>>>,
        kept: Option<Raw<'a>>,
        keys: Vec<Cow<'a, str>>,
    }

    impl<'a> Split<'a> for Box<Noted<'a>> {
        fn member(&mut self, key: &str, slot: Slot<'_, 'a>) -> Result<(), Failure> {
            self.keys.push(slot.key());
            match key {
                "inner" => drop(slot.split(&mut self.inner)?),
                "kept" => self.kept = Some(slot.split(&mut self.inner)?),
                _ => drop(slot.raw()?),
            }
            Ok(())
        }
    }

    fn split(text: &str) -> (Member<Box<Noted<'_>>>, Vec<String>) {
        let mut scan = Scan::new(text);
        let mut place = Member::Absent;
        scan.split(&mut place).unwrap();
        assert!(scan.keys.is_empty());
        (place, scan.faults.into_iter().map(|fault| fault.at).collect())
    }

    #[test]
    fn members_come_in_order_with_their_keys_borrowed() {
        let (object, faults) = split(r#"{"b": 1, "inner": {"x": {}}, "\u0061": [2]}"#);
        let object = object.into_value().unwrap();
        assert_eq!(object.keys, ["b", "inner", "a"]);
        assert!(matches!(object.keys[..], [Cow::Borrowed(_), Cow::Borrowed(_), Cow::Owned(_)]));
        assert_eq!(object.inner.into_value().unwrap().keys, ["x"]);
        assert_eq!(faults, [""; 0]);
    }

    #[test]
    fn what_is_no_object_is_what_it_is() {
        for (text, expected) in [
            ("[{}]", JsonType::Array),
            ("true", JsonType::Boolean),
            ("18446744073709551615", JsonType::Number),
            ("-1.5e3", JsonType::Number),
            (r#""\n""#, JsonType::String),
        ] {
            assert!(matches!(split(text).0, Member::Wrong(found) if found == expected), "{text}");
        }
        assert!(matches!(split("null").0, Member::Null));
    }

    #[test]
    fn faults_know_the_whole_path() {
        let (_, faults) = split(r#"{"inner":{"a/b":[0,{"k":1,"k":2}],"c":1,"c":2},"d":1,"d":2}"#);
        assert_eq!(faults, ["/inner/a~1b/1/k", "/inner/c", "/d"]);
        let (_, faults) = split(r#"{"inner":[0,{"k":1,"k":2}]}"#);
        assert_eq!(faults, ["/inner/1/k"]);
    }

    #[test]
    fn a_value_can_be_split_and_kept() {
        let (object, faults) = split(r#"{"kept":{"x": 1, "y": {"z":1,"z":2}, "x": 3}}"#);
        let object = object.into_value().unwrap();
        assert_eq!(object.kept.unwrap().get(), r#"{"x": 1, "y": {"z":1,"z":2}, "x": 3}"#);
        assert_eq!(object.inner.into_value().unwrap().keys, ["x", "y", "x"]);
        assert_eq!(faults, ["/kept/y/z", "/kept/x"]);
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
            assert_eq!(doubled(raw), [""; 0], "{raw}");
        }
    }

    #[test]
    fn duplicates_are_found_where_they_are() {
        assert_eq!(doubled(r#"{"a":1,"b":2,"a":3}"#), ["/a"]);
        assert_eq!(doubled(r#"[0,{"k":{"x":[[],{"y":1,"y":1}]}}]"#), ["/1/k/x/1/y"]);
        assert_eq!(doubled(r#"{"a/b":{"~":{"":1,"":2}}}"#), ["/a~1b/~0/"]);
        assert_eq!(doubled("{\"a\" : {} ,\n\"a\" : []}"), ["/a"]);
        assert_eq!(doubled(r#"{"a":{"b":1,"b":1},"a":2,"c":[{"d":1,"d":1}]}"#), ["/a/b", "/c/0/d", "/a"]);
    }

    #[test]
    fn keys_are_compared_as_text_not_as_they_are_escaped() {
        assert_eq!(doubled(r#"{"a":1,"\u0061":2}"#), ["/a"]);
        assert_eq!(doubled(r#"{"\ud83d\ude00":1,"😀":2}"#), ["/😀"]);
        assert_eq!(doubled(r#"{"\ud83d":1,"\ud83e":2}"#), [""; 0]);
    }

    #[test]
    fn a_duplicate_among_many_keys_is_found_and_many_are_not_told() {
        let keys: Vec<String> = (0..1000).map(|n| format!("\"k{}\":0", n * 7919 % 1000)).collect();
        assert_eq!(doubled(&format!("{{{}}}", keys.join(","))), [""; 0]);
        assert_eq!(doubled(&format!("{{{},\"k500\":1}}", keys.join(","))), ["/k500"]);
        assert_eq!(doubled(&format!("{{{0},{0}}}", keys.join(","))).len(), Fault::MOST);
    }

    #[test]
    fn depth_is_counted_in_containers() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        let objects = |depth| r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth);
        for depth in [1, 2, MAX_DEPTH] {
            assert!(Scan::new(&nested(depth)).value().is_ok() && Scan::new(&objects(depth)).value().is_ok());
        }
        for deep in [nested(MAX_DEPTH + 1), objects(MAX_DEPTH + 1), "[".repeat(1_000_000)] {
            assert!(matches!(Scan::new(&deep).value(), Err(Failure::TooDeep(_))));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn a_value_passes_until_any_one_key_is_doubled(value in samples::value(), pick: Index) {
            prop_assert_eq!(doubled(&value.to_string()), [""; 0]);
            let keys = samples::keys(&value);
            prop_assume!(!keys.is_empty());
            let pointer = pick.get(&keys);
            prop_assert_eq!(doubled(&samples::with_key_doubled(&value, pointer)), [pointer.as_str()]);
        }
    }
}
