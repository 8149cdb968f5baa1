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
use super::reader::{Reader, Unreadable};
use super::tree::{MAX_DEPTH, TreeCheck, TreeError, duplicates};

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
    tree: TreeCheck<'a>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { faults: Vec::new(), reader: Reader::new(text), tree: TreeCheck::default() }
    }

    /// Splits the whole text.
    pub(super) fn split<T: Split<'a>>(&mut self, place: &mut Member<T>) -> Result<(), Failure> {
        self.any(Path::ROOT, place)?;
        self.reader.finish().map_err(|_| Failure::Syntax)
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
        let first_key = self.tree.keys.len();
        self.reader.expect(b'{')?;
        let mut ended = self.reader.take(b'}');
        while !ended {
            let key = self.reader.name()?.text()?;
            object.member(&key, Slot { scan: self, key: &key, path: path.child(&key) })?;
            self.tree.keys.push(key);
            ended = self.reader.ends(b'}')?;
        }
        for key in duplicates(&mut self.tree.keys[first_key..]) {
            self.faults.push(duplicate(path.child(key).pointer()));
        }
        self.tree.keys.truncate(first_key);
        Ok(())
    }

    fn array(&mut self, path: Path<'_>) -> Result<(), Failure> {
        self.reader.expect(b'[')?;
        let mut ended = self.reader.take(b']');
        let mut index = 0_usize;
        while !ended {
            self.raw(path.child(itoa::Buffer::new().format(index)))?;
            index += 1;
            ended = self.reader.ends(b']')?;
        }
        Ok(())
    }

    fn raw(&mut self, path: Path<'_>) -> Result<Raw<'a>, Failure> {
        let depth = MAX_DEPTH - path.depth;
        let raw = self.reader.value(depth).map_err(|error| match error {
            Unreadable::Syntax => Failure::Syntax,
            Unreadable::TooDeep => Failure::TooDeep(path.pointer()),
        })?;
        if matches!(raw.kind(), JsonType::Object | JsonType::Array) {
            match self.tree.check(raw.get(), depth) {
                Ok(()) => {}
                Err(TreeError::DuplicateKey(pointer)) => {
                    self.faults.push(duplicate(path.pointer() + &pointer));
                }
                Err(TreeError::TooDeep) => return Err(Failure::TooDeep(path.pointer())),
            }
        }
        Ok(raw)
    }
}

impl From<Unreadable> for Failure {
    /// Only whole values are bounded in their depth.
    fn from(_: Unreadable) -> Self {
        Self::Syntax
    }
}

fn duplicate(at: String) -> Fault {
    Fault::new(at, "duplicate key")
}

/// Where a value stands: a list that lives on the stack, made a string only for a fault.
#[derive(Clone, Copy)]
pub(super) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    key: &'p str,
    /// How many containers are around the value.
    depth: usize,
}

impl<'p> Path<'p> {
    const ROOT: Self = Self { parent: None, key: "", depth: 0 };

    fn child(&'p self, key: &'p str) -> Self {
        Self { parent: Some(self), key, depth: self.depth + 1 }
    }

    fn pointer(&self) -> String {
        let Some(parent) = self.parent else {
            return String::new();
        };
        let mut pointer = parent.pointer();
        json::push_pointer(&mut pointer, self.key);
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
    use super::*;

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
        assert!(scan.tree.keys.is_empty());
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
}
