//! What a test answers when the server asks.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

/// The answers of a call, by the keys that the server asks under.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers(HashMap<String, Vec<Given>>);

/// An answer, before it is known to what.
#[derive(Clone, Debug)]
pub(super) enum Given {
    /// What fits: a form's content, a model's words, a list of roots.
    Value(Value),
    /// The whole result.
    Result(Value),
}

impl Answers {
    pub(super) fn add(&mut self, key: &str, given: Given) {
        self.0.entry(key.to_owned()).or_default().push(given);
    }

    /// The `inputResponses` to what is asked, if all of it has an answer. Of several answers to one key the first is
    /// given first, and the last again and again.
    pub(super) fn give(&mut self, asked: &Map<String, Value>) -> Option<Map<String, Value>> {
        if !asked.keys().all(|key| self.0.contains_key(key)) {
            return None;
        }
        let mut responses = Map::new();
        for (key, request) in asked {
            let given = self.0.get_mut(key)?;
            let next = if given.len() > 1 { given.remove(0) } else { given.first()?.clone() };
            responses.insert(key.clone(), next.result(request));
        }
        Some(responses)
    }
}

impl Given {
    fn result(self, request: &Value) -> Value {
        let value = match self {
            Self::Result(result) => return result,
            Self::Value(value) => value,
        };
        match (request["method"].as_str(), value) {
            (Some("sampling/createMessage"), Value::String(text)) => json!({
                "role": "assistant", "content": { "type": "text", "text": text }, "model": "test",
                "stopReason": "endTurn",
            }),
            (Some("roots/list"), Value::Array(uris)) => {
                let root = |uri: Value| if uri.is_string() { json!({ "uri": uri }) } else { uri };
                json!({ "roots": uris.into_iter().map(root).collect::<Value>() })
            }
            (Some("elicitation/create"), _) if request["params"]["mode"] == "url" => {
                json!({ "action": "accept" })
            }
            (Some("elicitation/create"), content) => json!({ "action": "accept", "content": content }),
            (_, other) => other,
        }
    }
}

/// What the server asks, if a result is no answer yet.
pub(super) fn asked(result: &Value) -> Option<Map<String, Value>> {
    (result["resultType"] == "input_required")
        .then(|| result["inputRequests"].as_object().cloned().unwrap_or_default())
}
