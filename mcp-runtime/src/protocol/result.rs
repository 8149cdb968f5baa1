//! Results of resources, prompts and completions, and the frame around every result.

use std::time::Duration;

use serde_json::Map;

use super::content::PromptMessage;
use super::id::RequestId;
use super::json;
use super::resource::ResourceContents;
use super::wire::Wire;

/// Appends a successful JSON-RPC response; `result` appends the result object.
pub fn write_response(id: &RequestId, out: &mut Vec<u8>, result: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write_json(out);
    out.extend_from_slice(br#","result":"#);
    result(out);
    out.push(b'}');
}

/// Who may share a cached result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheScope {
    /// Anybody: the result is the same for all callers.
    Public,
    /// Nobody but the caller who got it.
    #[default]
    Private,
}

impl CacheScope {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

/// How long a result stays fresh and who may share it: by default it is stale at once, and private.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CacheHint {
    /// How long the result stays fresh; whole milliseconds are sent.
    pub ttl: Duration,
    /// Who may share it.
    pub scope: CacheScope,
}

impl CacheHint {
    /// The longest time that is sent, in milliseconds: the largest integer that every JSON reader keeps exactly.
    const MAX_TTL_MS: u64 = (1 << 53) - 1;

    /// Appends `ttlMs` and `cacheScope`, each with a comma before it.
    pub fn write_members(&self, out: &mut Vec<u8>) {
        let ttl = u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX);
        out.extend_from_slice(br#","ttlMs":"#);
        json::write_u64(out, ttl.min(Self::MAX_TTL_MS));
        out.extend_from_slice(br#","cacheScope":"#);
        json::write_string(out, self.scope.as_str());
    }
}

/// What a resource answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadResult {
    /// The contents: usually one, several for a directory.
    pub contents: Vec<ResourceContents>,
    /// How long they stay fresh, and for whom; `None` for what the resource declares.
    pub cache: Option<CacheHint>,
}

impl ReadResult {
    /// One resource's contents.
    pub fn new(contents: ResourceContents) -> Self {
        Self::from_iter([contents])
    }

    /// Sets how long the contents stay fresh, and for whom.
    #[must_use]
    pub fn with_cache(mut self, cache: CacheHint) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Appends the result object.
    pub fn write_result(&self, wire: &Wire, out: &mut Vec<u8>) {
        wire.write_result(out, &Map::new(), |out| {
            out.extend_from_slice(br#","contents":["#);
            json::write_joined(out, &self.contents, ResourceContents::write_json);
            out.push(b']');
            wire.write_cache(out, self.cache.unwrap_or_default());
        });
    }
}

impl FromIterator<ResourceContents> for ReadResult {
    fn from_iter<I: IntoIterator<Item = ResourceContents>>(contents: I) -> Self {
        Self { contents: contents.into_iter().collect(), cache: None }
    }
}

/// What a prompt answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptResult {
    /// What the prompt is for.
    pub description: Option<String>,
    /// The messages.
    pub messages: Vec<PromptMessage>,
}

impl PromptResult {
    /// Messages without a description.
    pub fn new(messages: impl IntoIterator<Item = PromptMessage>) -> Self {
        Self { description: None, messages: messages.into_iter().collect() }
    }

    /// Says what the prompt is for.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Appends the result object.
    pub fn write_result(&self, wire: &Wire, out: &mut Vec<u8>) {
        wire.write_result(out, &Map::new(), |out| {
            if let Some(description) = &self.description {
                out.extend_from_slice(br#","description":"#);
                json::write_string(out, description);
            }
            out.extend_from_slice(br#","messages":["#);
            json::write_joined(out, &self.messages, |message, out| message.write_json(wire.revision(), out));
            out.push(b']');
        });
    }
}

/// Suggestions for an argument's value, best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The suggestions; at most 100 are sent.
    pub values: Vec<String>,
    /// How many there are in all; if unset, known from `values` when those are too many to send.
    pub total: Option<u64>,
    /// Whether there are more than were sent; if unset, known likewise.
    pub has_more: Option<bool>,
}

impl Completion {
    /// The most values of one answer.
    pub const MAX_VALUES: usize = 100;

    /// Appends the result object.
    pub fn write_result(&self, wire: &Wire, out: &mut Vec<u8>) {
        let cut = self.values.len() > Self::MAX_VALUES;
        let total = self.total.or(cut.then_some(self.values.len() as u64));
        let has_more = if cut { Some(true) } else { self.has_more };
        wire.write_result(out, &Map::new(), |out| {
            out.extend_from_slice(br#","completion":{"values":["#);
            let sent = self.values.iter().take(Self::MAX_VALUES);
            json::write_joined(out, sent, |value, out| json::write_string(out, value));
            out.push(b']');
            if let Some(total) = total {
                out.extend_from_slice(br#","total":"#);
                json::write_u64(out, total);
            }
            if let Some(has_more) = has_more {
                out.extend_from_slice(br#","hasMore":"#);
                out.extend_from_slice(if has_more { b"true" } else { b"false" });
            }
            out.push(b'}');
        });
    }
}

impl From<Vec<String>> for Completion {
    fn from(values: Vec<String>) -> Self {
        Self { values, total: None, has_more: None }
    }
}

impl<T: Into<String>> FromIterator<T> for Completion {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::from(values.into_iter().map(Into::into).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Revision;
    use super::*;

    fn server() -> Wire {
        Wire::new(Revision::LATEST, r#"{"name":"s","version":"1"}"#)
    }

    fn old() -> Wire {
        Wire::new(Revision::V2025_11_25, "")
    }

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Value {
        let mut out = Vec::new();
        write(&mut out);
        serde_json::from_slice(&out).unwrap()
    }

    fn meta() -> Value {
        json!({"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}})
    }

    #[test]
    fn a_response_carries_the_id_and_the_result() {
        let response = written(|out| write_response(&"a".into(), out, |out| out.extend_from_slice(b"{}")));
        assert_eq!(response, json!({"jsonrpc": "2.0", "id": "a", "result": {}}));
    }

    #[test]
    fn a_read_result_always_has_its_cache_hints() {
        let read = ReadResult::new(ResourceContents::text("x://a", "A"));
        let result = json!({
            "resultType": "complete", "contents": [{"uri": "x://a", "text": "A"}],
            "ttlMs": 0, "cacheScope": "private", "_meta": meta(),
        });
        assert_eq!(written(|out| read.write_result(&server(), out)), result);
        let hint = CacheHint { ttl: Duration::from_micros(1_999_999), scope: CacheScope::Public };
        let result = written(|out| read.clone().with_cache(hint).write_result(&server(), out));
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(1999), &json!("public")));
    }

    #[test]
    fn older_results_have_no_cache_hints() {
        let read = ReadResult::new(ResourceContents::text("x://a", "A")).with_cache(CacheHint::default());
        let result = json!({"contents": [{"uri": "x://a", "text": "A"}]});
        assert_eq!(written(|out| read.write_result(&old(), out)), result);
        let empty = written(|out| PromptResult::default().write_result(&old(), out));
        assert_eq!(empty, json!({"messages": []}));
        let completion = written(|out| Completion::default().write_result(&old(), out));
        assert_eq!(completion, json!({"completion": {"values": []}}));
    }

    #[test]
    fn an_endless_time_to_live_stays_an_exact_number() {
        let hint = CacheHint { ttl: Duration::MAX, scope: CacheScope::Private };
        let result = written(|out| ReadResult::default().with_cache(hint).write_result(&server(), out));
        assert_eq!(result["ttlMs"], json!(9_007_199_254_740_991_u64));
    }

    #[test]
    fn a_prompt_result_lists_its_messages() {
        let prompt = PromptResult::new([PromptMessage::user("hi"), PromptMessage::assistant("yes?")]);
        let result = json!({
            "resultType": "complete", "description": "d", "_meta": meta(),
            "messages": [
                {"role": "user", "content": {"type": "text", "text": "hi"}},
                {"role": "assistant", "content": {"type": "text", "text": "yes?"}},
            ],
        });
        assert_eq!(written(|out| prompt.with_description("d").write_result(&server(), out)), result);
        let empty = written(|out| PromptResult::default().write_result(&server(), out));
        assert_eq!(empty, json!({"resultType": "complete", "messages": [], "_meta": meta()}));
    }

    #[test]
    fn a_completion_says_what_it_knows() {
        let few = Completion::from_iter(["a", "b"]);
        let result = json!({"resultType": "complete", "completion": {"values": ["a", "b"]}, "_meta": meta()});
        assert_eq!(written(|out| few.write_result(&server(), out)), result);
        let known = Completion { total: Some(9), has_more: Some(false), ..few };
        let result = written(|out| known.write_result(&server(), out));
        assert_eq!(result["completion"], json!({"values": ["a", "b"], "total": 9, "hasMore": false}));
    }

    #[test]
    fn more_than_a_hundred_values_are_cut_and_said_so() {
        let many: Completion = (0..101).map(|n| n.to_string()).collect();
        let result = written(|out| many.write_result(&server(), out));
        let completion = &result["completion"];
        assert_eq!(completion["values"].as_array().map(Vec::len), Some(100));
        assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(101), &json!(true)));
    }
}
