//! Taking objects apart while the body is scanned, so that it is scanned once.
//!
//! An object of interest is a [`Split`]: it gets its members one by one, each as a [`Slot`] that it fills either by
//! splitting further or with the raw text of a leaf. Whatever is read, duplicate keys become faults and nesting is
//! bounded.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::error::Fault;
use super::json;
use super::member::{JsonType, Member};
use super::tree::{MAX_DEPTH, TreeCheck, TreeError, duplicates};

/// An object that is taken apart while it is scanned.
pub(super) trait Split<'a>: Default {
    /// Takes one member. The slot has to be read, wanted or not.
    fn member<A: MapAccess<'a>>(&mut self, key: Cow<'a, str>, slot: Slot<'_, 'a, A>) -> Result<(), A::Error>;
}

/// What one scan gathers.
#[derive(Default)]
pub(super) struct Scan<'a> {
    pub(super) faults: Vec<Fault>,
    tree: TreeCheck<'a>,
}

impl<'a> Scan<'a> {
    /// Splits a whole text.
    pub(super) fn split<T: Split<'a>>(
        &mut self,
        text: &'a str,
        place: &mut Member<T>,
    ) -> serde_json::Result<()> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        Object { scan: self, path: Path::ROOT, place }.deserialize(&mut deserializer)?;
        deserializer.end()
    }

    fn check<E: de::Error>(&mut self, raw: &'a RawValue, path: Path<'_>) -> Result<(), E> {
        if !matches!(JsonType::of(raw), JsonType::Object | JsonType::Array) {
            return Ok(());
        }
        match self.tree.check(raw.get(), MAX_DEPTH - path.depth) {
            Ok(()) => Ok(()),
            Err(TreeError::DuplicateKey(pointer)) => {
                self.faults.push(duplicate(path.pointer() + &pointer));
                Ok(())
            }
            Err(TreeError::TooDeep) => Err(E::custom(format_args!(
                "nested deeper than {MAX_DEPTH} containers at {}",
                path.pointer()
            ))),
        }
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
pub(super) struct Slot<'s, 'a, A> {
    map: &'s mut A,
    scan: &'s mut Scan<'a>,
    path: Path<'s>,
}

impl<'a, A: MapAccess<'a>> Slot<'_, 'a, A> {
    /// Any value, as its text.
    pub(super) fn raw(self) -> Result<&'a RawValue, A::Error> {
        let raw = self.map.next_value()?;
        self.scan.check(raw, self.path)?;
        Ok(raw)
    }

    /// A string.
    pub(super) fn text(self) -> Result<Member<Cow<'a, str>>, A::Error> {
        Member::text(self.raw()?).map_err(de::Error::custom)
    }

    /// An object, as its text.
    pub(super) fn raw_object(self) -> Result<Member<&'a RawValue>, A::Error> {
        self.raw().map(Member::object)
    }

    /// A leaf that `read` makes a value of.
    pub(super) fn read<T>(self, read: impl FnOnce(&'a RawValue) -> Option<T>) -> Result<Member<T>, A::Error> {
        let raw = self.raw()?;
        Ok(Member::read(raw, || read(raw)))
    }

    /// Any value, split and its text kept.
    pub(super) fn raw_and_split<T: Split<'a>>(self, place: &mut Member<T>) -> Result<&'a RawValue, A::Error> {
        let raw: &RawValue = self.map.next_value()?;
        let object = Object { scan: self.scan, path: self.path, place };
        object.deserialize(&mut serde_json::Deserializer::from_str(raw.get())).map_err(de::Error::custom)?;
        Ok(raw)
    }

    /// An object, split in turn.
    pub(super) fn split<T: Split<'a>>(self, place: &mut Member<T>) -> Result<(), A::Error> {
        self.map.next_value_seed(Object { scan: self.scan, path: self.path, place })
    }
}

/// Reads an object as a `T`, and anything else as what it is. The result is made in its place: some are large.
struct Object<'s, 'a, T> {
    scan: &'s mut Scan<'a>,
    path: Path<'s>,
    place: &'s mut Member<T>,
}

impl<T> Object<'_, '_, T> {
    fn wrong<E>(self, found: JsonType) -> Result<(), E> {
        *self.place = Member::Wrong(found);
        Ok(())
    }
}

impl<'a, T: Split<'a>> DeserializeSeed<'a> for Object<'_, 'a, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a, T: Split<'a>> Visitor<'a> for Object<'_, 'a, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { scan, path, place } = self;
        *place = Member::Value(T::default());
        let first_key = scan.tree.keys.len();
        while let Some(Key(key)) = map.next_key()? {
            scan.tree.keys.push(key.clone());
            // The path borrows the key while the object may keep it.
            let name = key.clone();
            let slot = Slot { map: &mut map, scan, path: path.child(&name) };
            if let Member::Value(object) = place {
                object.member(key, slot)?;
            }
        }
        for key in duplicates(&mut scan.tree.keys[first_key..]) {
            scan.faults.push(duplicate(path.child(key).pointer()));
        }
        scan.tree.keys.truncate(first_key);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<(), A::Error> {
        let mut index = 0_usize;
        while let Some(raw) = seq.next_element()? {
            self.scan.check(raw, self.path.child(itoa::Buffer::new().format(index)))?;
            index += 1;
        }
        self.wrong(JsonType::Array)
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.wrong(JsonType::String)
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.wrong(JsonType::Boolean)
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.wrong(JsonType::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.wrong(JsonType::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.wrong(JsonType::Number)
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        *self.place = Member::Null;
        Ok(())
    }
}

/// A key, borrowed unless it has escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }

        deserializer.deserialize_str(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An object of which `inner` is split and everything else noted.
    #[derive(Debug, Default)]
    struct Noted<'a> {
        inner: Member<Box<Noted<'a>>>,
        kept: Option<&'a RawValue>,
        keys: Vec<Cow<'a, str>>,
    }

    impl<'a> Split<'a> for Box<Noted<'a>> {
        fn member<A: MapAccess<'a>>(
            &mut self,
            key: Cow<'a, str>,
            slot: Slot<'_, 'a, A>,
        ) -> Result<(), A::Error> {
            match &*key {
                "inner" => slot.split(&mut self.inner)?,
                "kept" => self.kept = Some(slot.raw_and_split(&mut self.inner)?),
                _ => drop(slot.raw()?),
            }
            self.keys.push(key);
            Ok(())
        }
    }

    fn split(text: &str) -> (Member<Box<Noted<'_>>>, Vec<String>) {
        let mut scan = Scan::default();
        let mut place = Member::Absent;
        scan.split(text, &mut place).unwrap();
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
