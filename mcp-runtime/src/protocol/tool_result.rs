//! What a tool answers.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::content::{self, Content};
use super::json;
use super::wire::Wire;

/// What a tool answers: blocks of content, a structured value, or both.
#[derive(Clone, Debug, Default)]
pub struct ToolResult {
    content: Vec<Content>,
    structured: Option<Box<RawValue>>,
    without_mirror: bool,
    is_error: bool,
    meta: Map<String, Value>,
}

impl ToolResult {
    /// A result without content.
    pub fn new() -> Self {
        Self::default()
    }

    /// A result of one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new().with_content(Content::text(text))
    }

    /// A failure that the model is told of, so that it can try better.
    pub fn error(text: impl Into<String>) -> Self {
        Self::text(text).into_error()
    }

    /// A structured result.
    ///
    /// # Errors
    ///
    /// If the value can't be JSON.
    pub fn structured(value: impl Serialize) -> serde_json::Result<Self> {
        to_raw_value(&value).map(Self::structured_raw)
    }

    /// A structured result that is JSON already.
    pub fn structured_raw(json: Box<RawValue>) -> Self {
        Self { structured: Some(json), ..Self::default() }
    }

    /// Adds a block of content.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<Content>) -> Self {
        self.content.push(content.into());
        self
    }

    /// Adds metadata.
    #[must_use]
    pub fn with_meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(key.into(), value.into());
        self
    }

    /// Leaves the content empty where a structured result has no blocks. Otherwise its JSON is a text block, too,
    /// for clients that know nothing of structured results.
    #[must_use]
    pub fn without_mirror(mut self) -> Self {
        self.without_mirror = true;
        self
    }

    /// The same as a failure.
    #[must_use]
    pub fn into_error(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// The blocks of content.
    pub fn content(&self) -> &[Content] {
        &self.content
    }

    /// The structured value.
    pub fn structured_content(&self) -> Option<&RawValue> {
        self.structured.as_deref()
    }

    /// Whether the tool failed.
    pub fn is_error(&self) -> bool {
        self.is_error
    }

    /// The metadata.
    pub fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    /// The same with its structured value as text only.
    #[must_use]
    pub(crate) fn into_unstructured(mut self) -> Self {
        if let Some(json) = self.structured.take()
            && self.content.is_empty()
        {
            self.content.push(Content::text(<Box<str>>::from(json)));
        }
        self
    }

    /// Appends the result object. Where the revision has structured values only if they are objects, others are there
    /// as text.
    pub fn write_result(&self, wire: &Wire, out: &mut Vec<u8>) {
        let structured = self
            .structured
            .as_deref()
            .filter(|json| wire.revision().is_modern() || json.get().starts_with('{'));
        wire.write_result(out, &self.meta, |out| {
            out.extend_from_slice(br#","content":["#);
            match &self.structured {
                Some(json) if self.content.is_empty() && (structured.is_none() || !self.without_mirror) => {
                    content::write_text(out, json.get());
                }
                _ => json::write_joined(out, &self.content, |block, out| {
                    block.write_json(wire.revision(), out)
                }),
            }
            out.push(b']');
            if let Some(json) = structured {
                out.extend_from_slice(br#","structuredContent":"#);
                out.extend_from_slice(json.get().as_bytes());
            }
            if self.is_error {
                out.extend_from_slice(br#","isError":true"#);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::write_response;
    use super::super::{RequestId, Revision};
    use super::*;

    fn wire() -> Wire {
        Wire::new(Revision::LATEST, r#"{"name":"s","version":"1"}"#)
    }

    fn written_for(wire: &Wire, result: &ToolResult) -> Value {
        let mut out = Vec::new();
        result.write_result(wire, &mut out);
        serde_json::from_slice(&out).unwrap()
    }

    fn written(result: &ToolResult) -> Value {
        written_for(&wire(), result)
    }

    fn old(result: &ToolResult) -> Value {
        written_for(&Wire::new(Revision::V2025_11_25, ""), result)
    }

    fn without_meta(result: &ToolResult) -> Value {
        let mut value = written(result);
        value.as_object_mut().unwrap().remove("_meta");
        value
    }

    #[test]
    fn a_text_result_is_exactly_this() {
        let mut out = Vec::new();
        let result = ToolResult::text("72°F");
        let id = RequestId::from(7);
        write_response(&id, &mut out, |out| {
            result.write_result(&wire(), out);
        });
        assert_eq!(
            String::from_utf8(out).unwrap(),
            concat!(
                r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[{"type":"text","text":"72°F"}],"#,
                r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}"#
            )
        );
    }

    #[test]
    fn no_content_is_an_empty_list() {
        assert_eq!(without_meta(&ToolResult::new()), json!({"resultType": "complete", "content": []}));
    }

    #[test]
    fn only_a_failure_says_whether_it_is_one() {
        let failure = without_meta(&ToolResult::error("no"));
        let content = json!([{"type": "text", "text": "no"}]);
        assert_eq!(failure, json!({"resultType": "complete", "content": content, "isError": true}));
        assert!(ToolResult::error("no").is_error() && !ToolResult::text("yes").is_error());
    }

    #[test]
    fn a_structured_value_is_mirrored_as_text() {
        let value = json!({"quote": "\"", "list": [1, 2]});
        let result = without_meta(&ToolResult::structured(&value).unwrap());
        assert_eq!(result["structuredContent"], value);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), value);
    }

    #[test]
    fn own_content_takes_the_place_of_the_mirror() {
        let result = ToolResult::structured([1, 2]).unwrap().with_content("two numbers");
        let content = json!([{"type": "text", "text": "two numbers"}]);
        assert_eq!(
            without_meta(&result),
            json!({"resultType": "complete", "content": content, "structuredContent": [1, 2]})
        );
    }

    #[test]
    fn the_mirror_can_be_left_out() {
        let result = ToolResult::structured(1).unwrap().without_mirror();
        assert_eq!(
            without_meta(&result),
            json!({"resultType": "complete", "content": [], "structuredContent": 1})
        );
    }

    #[test]
    fn older_revisions_have_structured_objects_only() {
        let object = ToolResult::structured(json!({"a": 1})).unwrap();
        let text = json!([{"type": "text", "text": "{\"a\":1}"}]);
        assert_eq!(old(&object), json!({"content": text, "structuredContent": {"a": 1}}));
        assert_eq!(
            old(&object.clone().without_mirror()),
            json!({"content": [], "structuredContent": {"a": 1}})
        );
        assert_eq!(old(&object.into_unstructured()), json!({"content": text}));

        let list = ToolResult::structured([1, 2]).unwrap();
        let text = json!({"content": [{"type": "text", "text": "[1,2]"}]});
        assert_eq!(old(&list), text);
        assert_eq!(old(&list.clone().without_mirror()), text, "what is told is not lost");
        assert_eq!(old(&list.clone().without_mirror().into_unstructured()), text);
        let said = json!({"content": [{"type": "text", "text": "two"}]});
        assert_eq!(old(&list.clone().with_content("two")), said);
        assert_eq!(old(&list.with_content("two").into_unstructured()), said);
    }

    #[test]
    fn what_cannot_be_json_is_an_error() {
        let map = std::collections::HashMap::from([((1, 2), 3)]);
        assert!(ToolResult::structured(&map).is_err());
    }

    #[test]
    fn metadata_is_added_and_cannot_replace_the_server() {
        let result = ToolResult::new()
            .with_meta("com.example/x", 1)
            .with_meta("io.modelcontextprotocol/serverInfo", 2);
        let server = json!({"name": "s", "version": "1"});
        assert_eq!(
            written(&result)["_meta"],
            json!({"io.modelcontextprotocol/serverInfo": server, "com.example/x": 1})
        );
    }
}
