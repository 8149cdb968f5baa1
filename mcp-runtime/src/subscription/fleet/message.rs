//! What the servers of a fleet tell each other.
//!
//! One JSON object a message:
//!
//! ```json
//! {"v":1,"from":"5f1c0e7a9b3d2468","n":17,"change":"resource","uri":"catalog://parts/4711"}
//! ```
//!
//! | Member | |
//! | --- | --- |
//! | `v` | the version of this format, 1 |
//! | `from` | the publisher: random, 16 hexadecimal digits, new with each start |
//! | `n` | the number of the message at its publisher, which knows its own by it when they come back |
//! | `change` | `tools`, `prompts`, `resources`, `resource` with its `uri`, `everything`, or `none` |
//!
//! `none` says nothing but that the connection is alive. Members that are not known are ignored. A later version, or a
//! change that is not known, may mean anything: it is heard as `everything`.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::Change;

const VERSION: u64 = 1;

#[derive(Debug, Serialize, Deserialize)]
struct Wire<'a> {
    v: u64,
    #[serde(borrow)]
    from: Cow<'a, str>,
    n: u64,
    #[serde(borrow)]
    change: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    uri: Option<Cow<'a, str>>,
}

/// What makes a message one of a fleet's, in whatever version.
#[derive(Deserialize)]
struct Known<'a> {
    #[serde(rename = "v")]
    _version: u64,
    #[serde(rename = "from", borrow)]
    _from: Cow<'a, str>,
}

/// What a message means to a publisher.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It sent this message itself.
    Echo(u64),
    /// Another one says what has changed.
    Change(Change),
    /// Another one says something, and it can't be told what; by whatever it is, anything may have changed.
    Unknown,
    /// Another one is alive.
    Nothing,
    /// No publisher sent this.
    Garbage,
}

/// The bytes of a message that fit into `max`: a change that does not is told as `everything`.
pub(super) fn encode(from: &str, n: u64, change: Option<&Change>, max: usize) -> Bytes {
    let (kind, uri) = match change {
        None => ("none", None),
        Some(Change::Tools) => ("tools", None),
        Some(Change::Prompts) => ("prompts", None),
        Some(Change::Resources) => ("resources", None),
        Some(Change::Resource(uri)) => ("resource", Some(Cow::Borrowed(uri.as_str()))),
        Some(Change::Everything) => ("everything", None),
    };
    let wire = Wire { v: VERSION, from: Cow::Borrowed(from), n, change: Cow::Borrowed(kind), uri };
    let encoded = serde_json::to_vec(&wire).expect("strings and numbers can be written");
    if encoded.len() > max && wire.uri.is_some() {
        return encode(from, n, Some(&Change::Everything), max);
    }
    encoded.into()
}

/// What `payload` means to the publisher `own`.
pub(super) fn decode(own: &str, payload: &[u8]) -> Heard {
    let unknown = || match serde_json::from_slice::<Known<'_>>(payload) {
        Ok(_) => Heard::Unknown,
        Err(_) => Heard::Garbage,
    };
    let Ok(wire) = serde_json::from_slice::<Wire<'_>>(payload) else { return unknown() };
    if wire.v != VERSION {
        return Heard::Unknown;
    }
    if wire.from == own {
        return Heard::Echo(wire.n);
    }
    match &*wire.change {
        "none" => Heard::Nothing,
        "tools" => Heard::Change(Change::Tools),
        "prompts" => Heard::Change(Change::Prompts),
        "resources" => Heard::Change(Change::Resources),
        "everything" => Heard::Change(Change::Everything),
        "resource" => match wire.uri.map(|uri| Change::resource(&uri)) {
            Some(Ok(change)) => Heard::Change(change),
            _ => Heard::Unknown,
        },
        _ => Heard::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_as_documented() {
        let change = Change::resource("catalog://parts/4711").unwrap();
        assert_eq!(
            &encode("5f1c0e7a9b3d2468", 17, Some(&change), usize::MAX)[..],
            br#"{"v":1,"from":"5f1c0e7a9b3d2468","n":17,"change":"resource","uri":"catalog://parts/4711"}"#,
        );
        assert_eq!(&encode("a", 1, None, usize::MAX)[..], br#"{"v":1,"from":"a","n":1,"change":"none"}"#);
    }

    #[test]
    fn every_change_arrives_at_the_others_and_is_an_echo_to_its_publisher() {
        let resource = Change::resource("x://a/%22?b").unwrap();
        for change in [Change::Tools, Change::Prompts, Change::Resources, resource, Change::Everything] {
            let payload = encode("a", 3, Some(&change), usize::MAX);
            assert_eq!(decode("a", &payload), Heard::Echo(3));
            assert_eq!(decode("b", &payload), Heard::Change(change));
        }
        assert_eq!(decode("b", &encode("a", 3, None, usize::MAX)), Heard::Nothing);
    }

    #[test]
    fn what_is_not_known_may_be_anything_and_what_is_no_message_is_nothing() {
        let heard = [
            (r#"{"v":1,"from":"a","n":1,"change":"tools","later":[1]}"#, Heard::Change(Change::Tools)),
            (r#"{"v":1,"from":"a","n":1,"change":"roots"}"#, Heard::Unknown),
            (r#"{"v":1,"from":"a","n":1,"change":"resource"}"#, Heard::Unknown),
            (r#"{"v":1,"from":"a","n":1,"change":"resource","uri":"no uri"}"#, Heard::Unknown),
            (r#"{"v":1,"from":"a","n":"1","change":"tools"}"#, Heard::Unknown),
            (r#"{"v":2,"from":"a"}"#, Heard::Unknown),
            (r#"{"v":2,"from":"own","n":1,"change":"tools"}"#, Heard::Unknown),
            (r#"{"v":"1","from":"a","n":1,"change":"tools"}"#, Heard::Garbage),
            (r#"{"from":"a","n":1,"change":"tools"}"#, Heard::Garbage),
            (r#"{"v":1,"from":"a","n":1,"change":"tools""#, Heard::Garbage),
            ("[]", Heard::Garbage),
            ("hello", Heard::Garbage),
            ("", Heard::Garbage),
        ];
        for (payload, expected) in heard {
            assert_eq!(decode("own", payload.as_bytes()), expected, "{payload}");
        }
        assert_eq!(decode("own", &[0xff, 0]), Heard::Garbage);
    }

    #[test]
    fn a_change_that_is_too_long_is_told_as_everything() {
        let change = Change::resource(&format!("x://{}", "a".repeat(1000))).unwrap();
        assert_eq!(decode("b", &encode("a", 1, Some(&change), 1000)), Heard::Change(Change::Everything));
    }
}
