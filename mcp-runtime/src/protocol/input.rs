//! What a server asks its client for, and the result that carries it (specification: `basic/patterns/mrtr`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{json as text, sampling::Sampling, wire::Wire};

/// A request of the server to its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRequest {
    method: &'static str,
    /// The JSON text of the parameters.
    params: Option<String>,
}

impl InputRequest {
    /// Has a person fill in a form.
    pub fn form(message: &str, requested_schema: &Value) -> Self {
        let params = json!({ "mode": "form", "message": message, "requestedSchema": requested_schema });
        Self { method: "elicitation/create", params: Some(params.to_string()) }
    }

    /// Sends a person to a URL.
    pub fn url(message: &str, url: &str) -> Self {
        let params = json!({ "mode": "url", "message": message, "url": url });
        Self { method: "elicitation/create", params: Some(params.to_string()) }
    }

    /// Asks the client's model.
    ///
    /// # Errors
    /// If the question can't be JSON.
    pub fn sampling(sampling: &Sampling) -> serde_json::Result<Self> {
        let params = serde_json::to_string(sampling)?;
        Ok(Self { method: "sampling/createMessage", params: Some(params) })
    }

    /// Asks for the client's roots.
    #[must_use]
    pub fn roots() -> Self {
        Self { method: "roots/list", params: None }
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// The JSON text of the parameters, if it has any.
    #[must_use]
    pub fn params(&self) -> Option<&str> {
        self.params.as_deref()
    }

    /// Appends the request object.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"method":"#);
        text::write_string(out, self.method);
        if let Some(params) = &self.params {
            out.extend_from_slice(br#","params":"#);
            out.extend_from_slice(params.as_bytes());
        }
        out.push(b'}');
    }
}

/// Appends the result that asks for input.
///
/// There is at least one request or a state, or the client could not go on.
pub fn write_input_required<'r>(
    requests: impl ExactSizeIterator<Item = (&'r str, &'r InputRequest)>,
    state: Option<&str>,
    wire: &Wire,
    out: &mut Vec<u8>,
) {
    wire.write_input_required(out, |out| {
        if requests.len() > 0 {
            out.extend_from_slice(br#","inputRequests":{"#);
            text::write_joined(out, requests, |(key, request), out| {
                text::write_string(out, key);
                out.push(b':');
                request.write_json(out);
            });
            out.push(b'}');
        }
        if let Some(state) = state {
            out.extend_from_slice(br#","requestState":"#);
            text::write_string(out, state);
        }
    });
}

/// What a person did with an elicitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ElicitAction {
    /// Submitted it.
    Accept,
    /// Refused it.
    Decline,
    /// Dismissed it without a choice.
    Cancel,
}

/// The answer to an elicitation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ElicitResult {
    /// What the person did.
    pub action: ElicitAction,
    /// What they filled in.
    #[serde(default)]
    pub content: Option<Map<String, Value>>,
}

/// The answer to `roots/list`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct RootsResult {
    /// The roots.
    pub roots: Vec<Root>,
}

/// A folder or file that the client considers relevant. It is a hint, not a permission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// Its URI: `file://…`.
    pub uri: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::{super::revision::Revision, *};

    fn written(requests: &[(&str, InputRequest)], state: Option<&str>) -> Value {
        let mut out = Vec::new();
        let requests = requests.iter().map(|(key, request)| (*key, request));
        let wire = Wire::new(Revision::LATEST, r#"{"name":"s","version":"1"}"#);
        write_input_required(requests, state, &wire, &mut out);
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn the_result_carries_requests_and_state() {
        let schema = json!({"type": "object", "properties": {}});
        let meta = json!({"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}});
        let requests = [
            ("a", InputRequest::form("m", &schema)),
            ("b\"", InputRequest::url("m", "https://e.example/")),
            ("c", InputRequest::sampling(&Sampling::new(1).user("u")).unwrap()),
            ("d", InputRequest::roots()),
        ];
        assert_eq!(
            written(&requests, Some("s\"")),
            json!({
                "resultType": "input_required",
                "inputRequests": {
                    "a": {"method": "elicitation/create",
                          "params": {"mode": "form", "message": "m", "requestedSchema": schema}},
                    "b\"": {"method": "elicitation/create",
                            "params": {"mode": "url", "message": "m", "url": "https://e.example/"}},
                    "c": {"method": "sampling/createMessage", "params": {
                        "messages": [{"role": "user", "content": {"type": "text", "text": "u"}}], "maxTokens": 1}},
                    "d": {"method": "roots/list"},
                },
                "requestState": "s\"",
                "_meta": meta,
            })
        );
        assert_eq!(
            written(&[], Some("s")),
            json!({"resultType": "input_required", "requestState": "s", "_meta": meta})
        );
    }

    #[test]
    fn answers_are_read() {
        let accepted: ElicitResult =
            serde_json::from_str(r#"{"action":"accept","content":{"a":1}}"#).unwrap();
        assert_eq!(
            (accepted.action, accepted.content.unwrap()["a"].clone()),
            (ElicitAction::Accept, json!(1))
        );
        let declined: ElicitResult = serde_json::from_str(r#"{"action":"decline"}"#).unwrap();
        assert_eq!(declined, ElicitResult { action: ElicitAction::Decline, content: None });
        for wrong in [r#"{"action":"yes"}"#, "{}", "null", "12345", r#"{"action":"accept","content":5}"#] {
            assert!(serde_json::from_str::<ElicitResult>(wrong).is_err(), "{wrong}");
        }
        let roots: RootsResult =
            serde_json::from_str(r#"{"roots":[{"uri":"file:///a","name":"A"},{"uri":"file:///b"}]}"#)
                .unwrap();
        assert_eq!((roots.roots.len(), roots.roots[1].name.as_deref()), (2, None));
    }
}
