//! What a test answers when the server asks.

use std::{
    collections::HashMap,
    future::ready,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Map, Value, json, value::to_raw_value};

use crate::{
    handler::{ClientAnswer, ClientChannel},
    protocol::{Condition, InputRequest, ProtocolError},
};

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
        asked.iter().map(|(key, request)| Some((key.clone(), self.next(key)?.result(request)))).collect()
    }

    fn next(&mut self, key: &str) -> Option<Given> {
        let given = self.0.get_mut(key)?;
        if given.len() > 1 { Some(given.remove(0)) } else { given.first().cloned() }
    }
}

/// What the server asked during a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The key that the handler asks under.
    pub key: String,
    /// The request: `method`, and `params` with the message and the form.
    pub request: Value,
}

impl Question {
    /// What the person is told, if it is one that a person is asked.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.request["params"]["message"].as_str()
    }
}

/// The questions of a call, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Questions(Arc<Mutex<Vec<Question>>>);

impl Questions {
    pub(super) fn add(&self, key: &str, request: Value) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Question { key: key.to_owned(), request });
    }

    pub(super) fn take(&self) -> Vec<Question> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The answers of a client that is asked while the handler waits, in an older revision.
pub(super) struct LiveAnswers {
    answers: Mutex<Answers>,
    questions: Questions,
}

impl LiveAnswers {
    pub(super) fn new(answers: Answers, questions: Questions) -> Self {
        Self { answers: Mutex::new(answers), questions }
    }
}

impl ClientChannel for LiveAnswers {
    fn request<'c>(&'c self, key: &'c str, request: &'c InputRequest) -> ClientAnswer<'c> {
        let given = self.answers.lock().unwrap_or_else(PoisonError::into_inner).next(key);
        let mut asked = Vec::new();
        request.write_json(&mut asked);
        let asked: Value = serde_json::from_slice(&asked).unwrap_or_default();
        let result = given.map(|given| given.result(&asked));
        self.questions.add(key, asked);
        let answer = result.as_ref().and_then(|result| to_raw_value(result).ok());
        let unanswered =
            || ProtocolError::new(Condition::Internal, format!("the test does not answer `{key}`"));
        Box::pin(ready(answer.ok_or_else(unanswered)))
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
