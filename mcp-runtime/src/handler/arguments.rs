//! Reading a call's arguments, with every fault collected.

use std::any::Any;

use serde::de::{DeserializeOwned, Deserializer, Visitor, value::MapDeserializer};
use serde_json::Value;

use super::text::parse_long;
use crate::protocol::{Arguments, Fault, Raw};

/// All arguments of a tool call as one value of type `T`, instead of a parameter each.
///
/// The tool's input schema is then that of `T`, which must be an object; names that it does not have are refused, unless
/// extra arguments are ignored. Meant for handlers given as closures, whose parameters have no names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Args<T>(pub T);

/// Hands a call's arguments out by name and collects what is wrong with them.
#[doc(hidden)]
pub struct ArgumentReader<'a> {
    source: Source<'a>,
    /// The names that a call may use, for the refusal of others; `None` to ignore others.
    known: Option<&'a [String]>,
    taken: usize,
    faults: Vec<Fault>,
}

enum Source<'a> {
    Json(Option<&'a Arguments<'a>>),
    Text(&'a [(&'a str, &'a str)]),
}

impl<'a> ArgumentReader<'a> {
    /// Reads JSON members. Names outside `known` are refused, if it is given.
    pub(crate) fn json(arguments: Option<&'a Arguments<'a>>, known: Option<&'a [String]>) -> Self {
        Self { source: Source::Json(arguments), known, taken: 0, faults: Vec::new() }
    }

    /// Reads texts: template variables, or arguments that are strings by definition.
    pub(crate) fn text(values: &'a [(&'a str, &'a str)], known: Option<&'a [String]>) -> Self {
        Self { source: Source::Text(values), known, taken: 0, faults: Vec::new() }
    }

    /// The faults found, once a handler did not start.
    pub(crate) fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    pub(super) fn take_json(&mut self, name: &str) -> Option<Raw<'a>> {
        let Source::Json(arguments) = self.source else {
            return None;
        };
        let found = arguments?.get(name);
        self.taken += usize::from(found.is_some());
        found
    }

    pub(super) fn take_text(&mut self, name: &str) -> Option<&'a str> {
        let Source::Text(values) = self.source else {
            return None;
        };
        let found = values.iter().find(|(at, _)| *at == name).map(|(_, value)| *value);
        self.taken += usize::from(found.is_some());
        found
    }

    pub(super) fn take_all<T: DeserializeOwned>(&mut self) -> Option<T> {
        // Names outside the schema are left for `finish` to refuse.
        let known = |name: &&str| self.known.is_none_or(|known| known.iter().any(|known| known == name));
        self.taken = self.names().filter(known).count();
        let read = match self.source {
            Source::Json(arguments) => {
                let entries = arguments.into_iter().flat_map(Arguments::iter);
                located(MapDeserializer::<_, serde_json::Error>::new(entries))
            }
            Source::Text(values) => {
                // As JSON, a text can be the value of an option, too.
                let entries = values.iter().map(|(name, text)| (*name, Value::from(*text)));
                located(MapDeserializer::<_, serde_json::Error>::new(entries))
            }
        };
        read.map_err(|(at, message)| self.fault(&at, &message)).ok()
    }

    pub(super) fn fault(&mut self, at: &str, message: &str) {
        self.faults.push(Fault::new(at, message));
    }

    /// Whether everything fits. Names that nobody took are refused here.
    pub fn finish(&mut self) -> bool {
        if let Some(known) = self.known
            && self.names().count() > self.taken
        {
            let room = Fault::MOST.saturating_sub(self.faults.len());
            let unknown = self.names().filter(|name| known.iter().all(|known| known != name)).take(room);
            for name in unknown.map(str::to_owned).collect::<Vec<_>>() {
                let message = match nearest(&name, known) {
                    Some(near) => format!("unknown argument; did you mean `{near}`?"),
                    None if known.is_empty() => "unknown argument; there are none".to_owned(),
                    None => format!("unknown argument; there are `{}`", known.join("`, `")),
                };
                self.fault(&name, &message);
            }
        }
        self.faults.is_empty()
    }

    /// For a method whose endpoint has no instance, which `build()` rules out.
    pub fn no_instance<T>(&mut self) -> Option<T> {
        self.fault("endpoint", "the endpoint has no instance");
        None
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        let (json, text) = match self.source {
            Source::Json(arguments) => (arguments, &[][..]),
            Source::Text(values) => (None, values),
        };
        json.into_iter()
            .flat_map(Arguments::iter)
            .map(|(name, _)| name)
            .chain(text.iter().map(|(name, _)| *name))
    }
}

/// Deserialises all arguments; on failure, says where and what was expected.
fn located<'de, T, D>(arguments: D) -> Result<T, (String, String)>
where
    T: DeserializeOwned,
    D: Deserializer<'de, Error = serde_json::Error>,
{
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let at = if path == "." { "arguments".to_owned() } else { path };
        (at, describe(error.inner()))
    })
}

/// Deserialises one argument; on failure, says where in it and what was expected.
pub(super) fn parse<T: DeserializeOwned>(name: &str, raw: Raw<'_>) -> Result<T, (String, String)> {
    if let Some(text) = parse_long(raw) {
        return Ok(text);
    }
    serde_json::from_str(raw.get()).or_else(|plain| with_whole_numbers(raw).ok_or(plain)).map_err(|plain| {
        // Once more, slowly, to learn the path.
        let mut json = serde_json::Deserializer::from_str(raw.get());
        match serde_path_to_error::deserialize::<_, T>(&mut json) {
            Err(error) if error.path().iter().next().is_some() => {
                let path = error.path().to_string();
                let dot = if path.starts_with('[') { "" } else { "." };
                (format!("{name}{dot}{path}"), describe(error.inner()))
            }
            _ => (name.to_owned(), describe(&plain)),
        }
    })
}

/// Once more with `5.0` read as the integer that it is (JSON Schema 2020-12, section 4.2.3), if there is such a number.
fn with_whole_numbers<T: DeserializeOwned>(raw: Raw<'_>) -> Option<T> {
    if !raw.get().contains(".0") {
        return None;
    }
    let mut value = serde_json::from_str(raw.get()).ok()?;
    whole_numbers(&mut value);
    serde_json::from_value(value).ok()
}

fn whole_numbers(value: &mut Value) {
    /// Up to here a double is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT);
            if let (true, Some(whole)) = (number.is_f64(), whole) {
                *value = Value::from(whole as i64);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(whole_numbers),
        Value::Object(members) => members.values_mut().for_each(whole_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// An error without its position, which means nothing to who sent a JSON value, and without Rust's names for numbers.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rfind(" at line ").map_or(&*text, |at| &text[..at]);
    match text.rsplit_once("expected ") {
        Some((before, expected)) => match range(expected) {
            Some((least, most)) => format!("{before}expected an integer from {least} to {most}"),
            None if matches!(expected, "f32" | "f64") => format!("{before}expected a number"),
            None => text.to_owned(),
        },
        None => text.to_owned(),
    }
}

/// The bounds of an integer type.
fn range(name: &str) -> Option<(i128, i128)> {
    macro_rules! ranges {
        ($($integer:ident),*) => {
            match name {
                $(stringify!($integer) => Some(($integer::MIN as i128, $integer::MAX as i128)),)*
                _ => None,
            }
        };
    }
    ranges!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize)
}

/// What `T` is when nothing was sent, if it can be that: `None` for an `Option`, and for aliases of one.
pub(super) fn absent<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Absent).ok()
}

/// Like a missing field: an option is `None`, and everything else an error.
struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(serde::de::Error::custom("missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_none()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The one of `names` that `name` was probably meant to be.
pub(crate) fn nearest<'n>(name: &str, names: &'n [String]) -> Option<&'n str> {
    names
        .iter()
        .map(|candidate| (distance(name, candidate), candidate.as_str()))
        .min()
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(name.len()) / 4)
        .map(|(_, candidate)| candidate)
}

/// How many characters to insert, remove or replace; names are short, so the plain algorithm will do.
fn distance(left: &str, right: &str) -> usize {
    const LONGEST: usize = 64;
    if left.len() > LONGEST || right.len() > LONGEST {
        return usize::MAX;
    }
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(l != *r);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

/// The instance of an endpoint that has fields, as handlers share it.
pub type Instance = std::sync::Arc<dyn Any + Send + Sync>;

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn only_options_can_be_absent() {
        #[derive(Deserialize, PartialEq, Debug)]
        struct Wrapped(Option<u8>);
        type Alias = Option<String>;
        assert_eq!(absent::<Alias>(), Some(None));
        assert_eq!(absent::<Wrapped>(), Some(Wrapped(None)));
        assert_eq!(absent::<()>(), None);
        assert_eq!(absent::<Vec<u8>>(), None);
        assert_eq!(absent::<String>(), None);
    }

    #[test]
    fn a_fault_names_the_path_the_expectation_and_the_finding() {
        #[derive(Deserialize, Debug)]
        struct Order {
            #[allow(dead_code)]
            items: Vec<u32>,
        }
        let raw = Raw::parse(r#"{"items":[1,"two"]}"#).unwrap();
        let (at, message) = parse::<Order>("order", raw).unwrap_err();
        assert_eq!(at, "order.items[1]");
        assert_eq!(message, "invalid type: string \"two\", expected an integer from 0 to 4294967295");
        let raw = Raw::parse("true").unwrap();
        assert_eq!(parse::<u32>("limit", raw).unwrap_err().0, "limit");
    }

    #[test]
    fn a_flood_of_unknown_names_is_not_told_in_full() {
        let names: Vec<String> = (0..10_000).map(|n| format!("unknown{n}")).collect();
        let values: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
        let known = ["query".to_owned()];
        let mut reader = ArgumentReader::text(&values, Some(&known));
        assert!(!reader.finish());
        assert_eq!(reader.into_faults().len(), Fault::MOST);
    }

    #[test]
    fn an_integer_may_be_written_with_a_zero_fraction() {
        let raw = |json| Raw::parse(json).unwrap();
        assert_eq!(parse::<u32>("n", raw("5.0")), Ok(5));
        assert_eq!(parse::<Vec<i8>>("n", raw("[-1.0, 2]")), Ok(vec![-1, 2]));
        assert_eq!(parse::<f64>("n", raw("5.0")), Ok(5.0));
        assert!(parse::<u32>("n", raw("5.5")).unwrap_err().1.contains("5.5"));
        assert!(parse::<u8>("n", raw("300.0")).is_err());
    }

    #[test]
    fn near_names_are_suggested_and_far_ones_not() {
        let known = ["query".to_owned(), "limit".to_owned()];
        assert_eq!(nearest("qurey", &known), Some("query"));
        assert_eq!(nearest("Query", &known), Some("query"));
        assert_eq!(nearest("limits", &known), Some("limit"));
        assert_eq!(nearest("colour", &known), None);
        assert_eq!(nearest(&"x".repeat(1000), &known), None);
    }
}
