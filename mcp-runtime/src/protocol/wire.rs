//! The form of results, which is not the same in every revision.

use serde_json::{Map, Value};

use super::json;
use super::meta::keys;
use super::result::CacheHint;
use super::revision::Revision;

/// What results are written for: a revision, and the server's name and version, which each modern result repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wire {
    revision: Revision,
    server_info: Box<str>,
}

impl Wire {
    /// The form of a revision; `server_info` is the JSON text of the server's name and version.
    pub fn new(revision: Revision, server_info: impl Into<Box<str>>) -> Self {
        Self { revision, server_info: server_info.into() }
    }

    /// The revision.
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Appends a complete result; `members` appends its members, of which there is one at least, each with a comma
    /// before it.
    ///
    /// Only modern results say that they are complete, and whose they are.
    pub(crate) fn write_result(
        &self,
        out: &mut Vec<u8>,
        meta: &Map<String, Value>,
        members: impl FnOnce(&mut Vec<u8>),
    ) {
        if !self.revision.is_modern() {
            return write_legacy(out, meta, members);
        }
        self.write_modern(br#"{"resultType":"complete""#, out, meta, members);
    }

    /// Appends a result that asks for input, which modern revisions have; `members` as above.
    pub(super) fn write_input_required(&self, out: &mut Vec<u8>, members: impl FnOnce(&mut Vec<u8>)) {
        self.write_modern(br#"{"resultType":"input_required""#, out, &Map::new(), members);
    }

    #[inline]
    fn write_modern(
        &self,
        head: &[u8],
        out: &mut Vec<u8>,
        meta: &Map<String, Value>,
        members: impl FnOnce(&mut Vec<u8>),
    ) {
        out.extend_from_slice(head);
        members(out);
        out.extend_from_slice(br#","_meta":{""#);
        out.extend_from_slice(keys::SERVER_INFO.as_bytes());
        out.extend_from_slice(br#"":"#);
        out.extend_from_slice(self.server_info.as_bytes());
        for (key, value) in others(meta) {
            out.push(b',');
            write_member(out, key, value);
        }
        out.extend_from_slice(b"}}");
    }

    /// Appends the members of a cache hint, each with a comma before it, where the revision has them.
    pub(crate) fn write_cache(&self, out: &mut Vec<u8>, hint: CacheHint) {
        if self.revision.is_modern() {
            hint.write_members(out);
        }
    }
}

fn write_legacy(out: &mut Vec<u8>, meta: &Map<String, Value>, members: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    members(out);
    // The comma before the first member is where the object begins.
    match out.get_mut(start) {
        Some(comma) => *comma = b'{',
        None => out.push(b'{'),
    }
    for (at, (key, value)) in others(meta).enumerate() {
        out.extend_from_slice(if at == 0 { br#","_meta":{"# } else { b"," });
        write_member(out, key, value);
    }
    out.extend_from_slice(if others(meta).next().is_some() { b"}}" } else { b"}" });
}

/// What the application adds to `_meta`: all but what the protocol says there.
fn others(meta: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    meta.iter().filter(|(key, _)| *key != keys::SERVER_INFO)
}

fn write_member(out: &mut Vec<u8>, key: &str, value: &Value) {
    json::write_string(out, key);
    out.push(b':');
    json::write_serialized(out, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(revision: Revision, meta: &[(&str, i32)]) -> String {
        let meta = meta.iter().map(|(key, value)| ((*key).to_owned(), (*value).into())).collect();
        let mut out = b"> ".to_vec();
        let wire = Wire::new(revision, r#"{"name":"s"}"#);
        wire.write_result(&mut out, &meta, |out| {
            out.extend_from_slice(br#","a":1"#);
            wire.write_cache(out, CacheHint::default());
        });
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_modern_result_says_what_and_whose_it_is() {
        let hint = r#","ttlMs":0,"cacheScope":"private""#;
        let start = format!(r#"> {{"resultType":"complete","a":1{hint},"_meta":{{"{}":"#, keys::SERVER_INFO);
        assert_eq!(written(Revision::LATEST, &[]), format!(r#"{start}{{"name":"s"}}}}}}"#));
        let meta = [("x", 1), (keys::SERVER_INFO, 2), ("y", 3)];
        assert_eq!(written(Revision::LATEST, &meta), format!(r#"{start}{{"name":"s"}},"x":1,"y":3}}}}"#));
    }

    #[test]
    fn an_older_result_has_nothing_but_its_members() {
        for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
            assert_eq!(written(revision, &[]), r#"> {"a":1}"#);
            assert_eq!(written(revision, &[(keys::SERVER_INFO, 1)]), r#"> {"a":1}"#);
            let meta = [("x", 1), (keys::SERVER_INFO, 2), ("y", 3)];
            assert_eq!(written(revision, &meta), r#"> {"a":1,"_meta":{"x":1,"y":3}}"#);
        }
    }
}
