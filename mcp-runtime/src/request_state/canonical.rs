//! What a request asks for, as one digest that does not depend on how its JSON is written.
//!
//! A client sends its parameters a second time with the answers that were asked for, and its library may write them
//! anew: keys in another order, other escapes, other spaces, `1.0` for `1`. All of that has one digest; whatever a
//! handler could tell apart has another one.
//!
//! The text is read once, from its beginning to its end, into a form in which every value ends where it says. The
//! members of an object are sorted when it ends. One that has become long shrinks to the digest of its members, so that
//! what is nested deeply is not moved at every level.

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
pub(super) type Sha = [u8; 32];

/// The members of `params` that differ between a request and its retry (specification: `basic/patterns/mrtr`).
const UNSTABLE: [&[u8]; 3] = [b"_meta", b"inputResponses", b"requestState"];

/// From how many bytes of its form on an object shrinks to its digest.
const LONG: usize = 1024;

/// What an object's digest begins with; no other digest of this room begins so.
const OBJECT: &[u8] = b"{";

/// The digest of all members of `params` but those that differ from round to round. Absent `arguments` are empty ones.
///
/// The text has to be a JSON object; of any other text the answer means nothing.
pub(super) fn stable_digest(params: &str) -> Sha {
    let mut reader = Reader::default();
    reader.read(params.as_bytes());
    reader.outermost
}

/// Writes the canonical form of what it reads.
#[derive(Default)]
struct Reader {
    form: Vec<u8>,
    open: Vec<Container>,
    /// The digest of the outermost object, once it has ended.
    outermost: Sha,
}

/// A container whose end is yet to come.
enum Container {
    Array,
    /// Where the object begins in the form, and where each of its members does.
    Object {
        start: usize,
        members: Vec<usize>,
    },
}

impl Reader {
    fn read(&mut self, json: &[u8]) {
        let mut expects_key = false;
        let mut at = 0;
        while let Some(&byte) = json.get(at) {
            let rest = &json[at..];
            at += match byte {
                b'{' => {
                    self.open.push(Container::Object { start: self.form.len(), members: Vec::new() });
                    self.form.push(b'{');
                    expects_key = true;
                    1
                }
                b'[' => {
                    self.open.push(Container::Array);
                    self.form.push(b'[');
                    expects_key = false;
                    1
                }
                b'}' | b']' => {
                    self.close();
                    1
                }
                b',' => {
                    expects_key = matches!(self.open.last(), Some(Container::Object { .. }));
                    1
                }
                b'"' => {
                    if std::mem::take(&mut expects_key) {
                        self.begin_member();
                    }
                    let literal = string_literal(rest);
                    write_literal(&mut self.form, literal);
                    literal.len()
                }
                b':' | b' ' | b'\t' | b'\n' | b'\r' => 1,
                _ => {
                    let word = word(rest);
                    match word[0] {
                        b'n' | b't' | b'f' => self.form.push(word[0]),
                        _ => write_number(&mut self.form, word),
                    }
                    word.len()
                }
            };
        }
    }

    fn begin_member(&mut self) {
        let at = self.form.len();
        if let Some(Container::Object { members, .. }) = self.open.last_mut() {
            members.push(at);
        }
    }

    fn close(&mut self) {
        match self.open.pop() {
            Some(Container::Array) => self.form.push(b']'),
            Some(Container::Object { start, members }) if self.open.is_empty() => {
                self.outermost = digest(stable_members(sorted(&self.form, &members)));
                self.form.truncate(start);
            }
            Some(Container::Object { start, members }) => {
                let members = sorted(&self.form, &members);
                let (tag, end, members) = match self.form.len() - start {
                    LONG.. => (b'#', None, digest(members).to_vec()),
                    _ => (b'{', Some(b'}'), members.concat()),
                };
                self.form.truncate(start);
                self.form.push(tag);
                self.form.extend_from_slice(&members);
                self.form.extend(end);
            }
            None => {}
        }
    }
}

/// The members that begin at these places, each with its key, in the order of their keys.
fn sorted<'f>(form: &'f [u8], members: &[usize]) -> Vec<&'f [u8]> {
    let ends = members.iter().skip(1).copied().chain([form.len()]);
    let mut sorted: Vec<_> = members.iter().zip(ends).map(|(&start, end)| &form[start..end]).collect();
    sorted.sort_unstable();
    sorted
}

/// Those of the members of `params` that a retry has in common with its request.
fn stable_members(mut members: Vec<&[u8]>) -> Vec<&[u8]> {
    let key = |name: &[u8]| {
        let mut key = Vec::new();
        write_text(&mut key, name);
        key
    };
    let unstable = UNSTABLE.map(key);
    let no_arguments = [key(b"arguments").as_slice(), b"{}"].concat();
    members.retain(|member| *member != no_arguments && !unstable.iter().any(|key| member.starts_with(key)));
    members
}

fn digest(members: Vec<&[u8]>) -> Sha {
    let mut digest = Sha256::new_with_prefix(OBJECT);
    for member in members {
        digest.update(member);
    }
    digest.finalize().into()
}

/// The string literal that a text begins with, quotes included.
fn string_literal(text: &[u8]) -> &[u8] {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return &text[..=at],
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text
}

/// The number or name that a text begins with; one byte at least.
fn word(text: &[u8]) -> &[u8] {
    let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':' | b' ' | b'\t' | b'\n' | b'\r');
    let end = text.iter().position(is_end).unwrap_or(text.len());
    &text[..end.max(1)]
}

/// Appends what a string literal says.
fn write_literal(form: &mut Vec<u8>, literal: &[u8]) {
    if !literal.contains(&b'\\') {
        let text = literal.get(1..literal.len() - 1).unwrap_or_default();
        return write_text(form, text);
    }
    match serde_json::from_slice::<String>(literal) {
        Ok(text) => write_text(form, text.as_bytes()),
        // Half of a surrogate pair says nothing; it stands for its spelling.
        Err(_) => write_counted(form, b'x', literal),
    }
}

fn write_text(form: &mut Vec<u8>, text: &[u8]) {
    write_counted(form, b's', text);
}

fn write_counted(form: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    form.push(tag);
    form.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
    form.extend_from_slice(bytes);
}

/// Appends the exact value of a number: `-12.50` and `-1250e-2` are both `-125e-1`.
///
/// Reading it as a double instead would make one of `12345678901234567.89` and `12345678901234567.11`, which a handler
/// that takes decimals or large integers does tell apart.
fn write_number(form: &mut Vec<u8>, number: &[u8]) {
    let (sign, unsigned) = number.split_at(usize::from(number.starts_with(b"-")));
    let (mantissa, power) = split(unsigned, |byte| matches!(byte, b'e' | b'E'));
    let (whole, fraction) = split(mantissa, |byte| byte == b'.');
    let start = form.len();
    form.push(b'd');
    form.extend_from_slice(sign);
    let first = form.len();
    form.extend(whole.iter().chain(fraction).skip_while(|&&digit| digit == b'0'));
    let zeros = form[first..].iter().rev().take_while(|&&digit| digit == b'0').count();
    form.truncate(form.len() - zeros);
    if form.len() == first {
        // Zero has no sign.
        form.truncate(start);
        return form.extend_from_slice(b"d0;");
    }
    let power = match power {
        [] => Some(0),
        power => std::str::from_utf8(power).ok().and_then(|text| text.parse::<i64>().ok()),
    };
    match power.and_then(|power| power.checked_add(zeros as i64 - fraction.len() as i64)) {
        Some(power) => {
            form.push(b'e');
            form.extend_from_slice(itoa::Buffer::new().format(power).as_bytes());
            form.push(b';');
        }
        // A power that no number can hold stands for its spelling.
        None => {
            form.truncate(start);
            write_counted(form, b'y', number);
        }
    }
}

/// What stands before and after a byte, if there is one.
fn split(text: &[u8], is: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    let at = text.iter().position(|&byte| is(byte)).unwrap_or(text.len());
    (&text[..at], text.get(at + 1..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::Index};
    use serde_json::{Map, Value, json};

    use super::*;

    fn all_equal(spellings: &[&str]) {
        for spelling in spellings {
            assert_eq!(stable_digest(spelling), stable_digest(spellings[0]), "{spelling}");
        }
    }

    fn all_differ(texts: &[&str]) {
        for (at, one) in texts.iter().enumerate() {
            for other in &texts[..at] {
                assert_ne!(stable_digest(one), stable_digest(other), "{one} and {other}");
            }
        }
    }

    #[test]
    fn spellings_of_one_object_have_one_digest() {
        all_equal(&[
            r#"{"a":{"x":1,"y":[true,null]},"b":"A/"}"#,
            r#"{"b":"A/","a":{"y":[true,null],"x":1}}"#,
            "{ \"b\" : \"\\u0041\\/\" ,\n\t\"\\u0061\" : { \"y\" : [ true , null ] , \"x\" : 1 } }\r\n",
        ]);
        all_equal(&[r#"{"a":"😀\n"}"#, r#"{"a":"\ud83d\ude00\u000a"}"#, r#"{"a":"\uD83D\uDE00\n"}"#]);
    }

    #[test]
    fn numbers_are_equal_by_value() {
        for spellings in [
            ["0", "-0", "0.0", "0e5", "-0.00E-7", "0e99999999999999999999"],
            ["1", "1.0", "1e0", "10E-1", "0.1e+1", "0.0001e0004"],
            ["-12.5", "-12.50", "-125e-1", "-0.125e2", "-1250E-2", "-12.500e+00"],
            ["1000000", "1e6", "1E+6", "1000000.000", "0.001e9", "10e5"],
        ] {
            all_equal(&spellings.map(|number| format!(r#"{{"a":{number}}}"#)).each_ref().map(|text| &**text));
        }
        all_differ(&[
            r#"{"a":1}"#,
            r#"{"a":-1}"#,
            r#"{"a":10}"#,
            r#"{"a":1.1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":[1]}"#,
            r#"{"a":9007199254740992}"#,
            r#"{"a":9007199254740993}"#,
            r#"{"a":12345678901234567.89}"#,
            r#"{"a":12345678901234567.11}"#,
            r#"{"a":1e99999999999999999998}"#,
            r#"{"a":1e99999999999999999999}"#,
            r#"{"a":1e9223372036854775807}"#,
            r#"{"a":10e9223372036854775807}"#,
        ]);
    }

    #[test]
    fn values_that_are_not_the_same_have_different_digests() {
        all_differ(&[
            "{}",
            r#"{"a":null}"#,
            r#"{"a":true}"#,
            r#"{"a":false}"#,
            r#"{"a":"n"}"#,
            r#"{"a":""}"#,
            r#"{"a":[]}"#,
            r#"{"a":{}}"#,
            r#"{"a":[[]]}"#,
            r#"{"a":[[],[]]}"#,
            r#"{"a":[],"b":[]}"#,
            r#"{"a":[{},{}]}"#,
            r#"{"a":[{"b":1,"c":2}]}"#,
            r#"{"a":[{"b":1},{"c":2}]}"#,
            r#"{"a":{"b":1,"c":2}}"#,
            r#"{"a":{"b":2,"c":1}}"#,
            r#"{"a":{"b":1},"c":2}"#,
            r#"{"a":[1,2]}"#,
            r#"{"a":[2,1]}"#,
            r#"{"a":[12]}"#,
            r#"{"a":"\ud83d"}"#,
            r#"{"a":"\ud83e"}"#,
            r#"{"a":"\\ud83e"}"#,
        ]);
    }

    #[test]
    fn long_objects_are_told_apart_as_short_ones_are() {
        let object = |swapped: bool, first: char, length: usize| {
            let long = "x".repeat(length);
            let (a, b) = (format!(r#""a":"{first}""#), format!(r#""b":"{long}""#));
            let (one, other) = if swapped { (&b, &a) } else { (&a, &b) };
            format!(r#"{{"in":[{{{one},{other}}},1]}}"#)
        };
        for length in (LONG - 40..LONG + 40).chain([4 * LONG]) {
            all_equal(&[&object(false, 'y', length), &object(true, 'y', length)]);
            all_differ(&[
                &object(false, 'y', length),
                &object(true, 'z', length),
                &object(false, 'y', length + 1),
            ]);
        }
    }

    #[test]
    fn what_differs_from_round_to_round_does_not_count() {
        all_equal(&[
            r#"{"name":"t"}"#,
            r#"{"name":"t","arguments":{}}"#,
            r#"{"_meta":{"a":1,"b":2},"name":"t","requestState":"s","inputResponses":{"x":{"action":"accept"}}}"#,
            r#"{"\u005fmeta":{},"name":"t","arguments": { } ,"request\u0053tate":"t"}"#,
        ]);
        // Elsewhere these are names like all others.
        all_differ(&[
            r#"{"name":"t","arguments":{"_meta":1}}"#,
            r#"{"name":"t","arguments":{"_meta":2}}"#,
            r#"{"name":"t","arguments":{"arguments":{}}}"#,
            r#"{"name":"t","arguments":[]}"#,
            r#"{"name":"t","arguments":null}"#,
            r#"{"name":"t","_metadata":1}"#,
            r#"{"name":"t"}"#,
            r#"{"name":"t","inputresponses":{}}"#,
        ]);
    }

    #[test]
    fn nesting_takes_no_stack() {
        let deep = 100_000;
        let arrays = format!(r#"{{"a":{}{}}}"#, "[".repeat(deep), "]".repeat(deep));
        let objects = format!("{}1{}", r#"{"b":"#.repeat(deep), r#","a":2}"#.repeat(deep));
        let sorted = format!("{}1{}", r#"{"a":2,"b":"#.repeat(deep), "}".repeat(deep));
        assert_ne!(stable_digest(&arrays), stable_digest(&objects));
        assert_eq!(stable_digest(&sorted), stable_digest(&objects));
    }

    /// Any JSON value.
    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<i32>().prop_map(|number| Value::from(f64::from(number) / 4.0)),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,3}", inner, 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Writes a value anew: members in another order, escapes and spaces where `choices` says so.
    fn rewritten(value: &Value, choices: &mut impl Iterator<Item = u8>) -> String {
        let mut choose = |of: u8| choices.next().unwrap_or_default() % of;
        let space = [" ", "", "\n\t", ""][usize::from(choose(4))];
        match value {
            Value::String(text) => {
                let mut literal = String::from("\"");
                for unit in text.encode_utf16() {
                    literal.push_str(&format!("\\u{unit:04x}"));
                }
                if choose(2) == 0 { value.to_string() } else { literal + "\"" }
            }
            Value::Number(number) => {
                let plain = number.to_string();
                match choose(3) {
                    0 => format!("{space}{plain}{space}"),
                    1 if plain.contains('.') => format!("{plain}00E0"),
                    _ => format!("{plain}e+0"),
                }
            }
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| rewritten(item, choices)).collect();
                format!("[{space}{}{space}]", items.join(&format!("{space},")))
            }
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                let first = usize::from(choose(8)) % members.len().max(1);
                members.rotate_left(first);
                if choose(2) == 0 {
                    members.reverse();
                }
                let members: Vec<_> = members
                    .into_iter()
                    .map(|(key, value)| {
                        let key = rewritten(&Value::from(key.as_str()), choices);
                        format!("{space}{key}{space}:{}", rewritten(value, choices))
                    })
                    .collect();
                format!("{{{}{space}}}", members.join(","))
            }
            other => format!("{space}{other}"),
        }
    }

    /// The values of a tree, outermost first.
    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(members) => members.values().map(count).sum(),
            _ => 0,
        }
    }

    /// Changes the value at a place to another one.
    fn change(value: &mut Value, at: &mut usize) {
        if *at == 0 {
            *value = match value.take() {
                Value::Bool(flag) => json!(!flag),
                Value::String(text) => json!(text + "x"),
                Value::Number(number) => json!([number]),
                other => json!({ "was": other }),
            };
        }
        *at = at.wrapping_sub(1);
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| change(item, at)),
            Value::Object(members) => members.values_mut().for_each(|member| change(member, at)),
            _ => {}
        }
    }

    fn params(arguments: &str) -> String {
        format!(r#"{{"name":"t","arguments":{{"in":{arguments}}}}}"#)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn a_value_that_is_written_anew_has_the_same_digest(value in value(), choices: Vec<u8>) {
            let text = rewritten(&value, &mut choices.into_iter().cycle());
            prop_assert_eq!(serde_json::from_str::<Map<String, Value>>(&params(&text)).is_ok(), true);
            prop_assert_eq!(stable_digest(&params(&text)), stable_digest(&params(&value.to_string())));
        }

        #[test]
        fn a_value_that_is_changed_anywhere_has_another_digest(value in value(), place: Index) {
            let mut changed = value.clone();
            change(&mut changed, &mut place.index(count(&value)));
            prop_assert_ne!(stable_digest(&params(&changed.to_string())), stable_digest(&params(&value.to_string())));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]{}\",:\\\\aeun0-9.+é -]{0,60}") {
            let _ = stable_digest(&text);
        }
    }
}
