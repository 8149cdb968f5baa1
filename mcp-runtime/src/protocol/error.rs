//! Errors on the wire: their conditions, codes and texts.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use super::id::RequestId;
use super::json;
use super::revision::Revision;

/// Why a request is answered with an error instead of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Condition {
    /// The body is not JSON, or nests too deeply.
    Parse,
    /// The body is not a request or notification.
    InvalidRequest,
    /// A header is missing, malformed, doubled, or differs from the body.
    HeaderMismatch,
    /// The revision is not served.
    UnsupportedRevision,
    /// Fields of `_meta` or other parameters are missing or mistyped.
    InvalidMeta,
    /// The client did not declare a capability that the request needs.
    MissingCapability,
    /// The method is unknown.
    MethodNotFound,
    /// The tool, prompt or cursor is unknown, or prompt arguments are wrong.
    NotFound,
    /// The resource is unknown.
    ResourceNotFound,
    /// A handler's own failure, with its own code.
    Application(i32),
    /// The `Host` or `Origin` is refused.
    Forbidden,
    /// The HTTP method is refused.
    MethodNotAllowed,
    /// The client accepts no media type that an answer could have.
    NotAcceptable,
    /// The body is larger than allowed.
    TooLarge,
    /// The body's media type is not JSON.
    UnsupportedMediaType,
    /// Too many requests.
    RateLimited,
    /// No capacity is left, the deadline passed while waiting for it, or the server is shutting down.
    Overloaded,
    /// The deadline passed while the handler ran.
    Deadline,
    /// A panic or a broken contract in the server.
    Internal,
    /// A resource or prompt handler's own failure without a code.
    InternalOk,
    /// The caller is not admitted.
    Unauthorized,
}

impl Condition {
    /// The JSON-RPC code in a revision.
    pub const fn code(self, revision: Revision) -> i32 {
        self.row(revision).0
    }

    /// The HTTP status in a revision.
    pub const fn http_status(self, revision: Revision) -> u16 {
        self.row(revision).1
    }

    const fn row(self, revision: Revision) -> (i32, u16) {
        if revision.is_modern() { self.modern_row() } else { self.legacy_row() }
    }

    /// The table of codes and statuses before 2026-07-28, as far as it differs: whatever a request that was taken comes
    /// to is a 200, and the codes that came later are not known.
    const fn legacy_row(self) -> (i32, u16) {
        match self {
            Self::InvalidMeta | Self::MissingCapability => (-32602, 200),
            Self::MethodNotFound => (-32601, 200),
            Self::ResourceNotFound => (-32002, 200),
            Self::Deadline | Self::Internal => (-32603, 200),
            other => other.modern_row(),
        }
    }

    /// The table of codes and statuses since 2026-07-28.
    const fn modern_row(self) -> (i32, u16) {
        match self {
            Self::Parse => (-32700, 400),
            Self::InvalidRequest => (-32600, 400),
            Self::HeaderMismatch => (-32020, 400),
            Self::UnsupportedRevision => (-32022, 400),
            Self::InvalidMeta => (-32602, 400),
            Self::MissingCapability => (-32021, 400),
            Self::MethodNotFound => (-32601, 404),
            // A 400 without a modern code would send a client that speaks both eras back to `initialize`.
            Self::NotFound | Self::ResourceNotFound => (-32602, 200),
            Self::Application(code) => (code, 200),
            Self::Forbidden => (-32600, 403),
            Self::MethodNotAllowed => (-32600, 405),
            Self::NotAcceptable => (-32600, 406),
            Self::TooLarge => (-32600, 413),
            Self::UnsupportedMediaType => (-32600, 415),
            Self::RateLimited => (-31999, 429),
            Self::Overloaded => (-32603, 503),
            Self::Deadline => (-32603, 504),
            Self::Internal => (-32603, 500),
            Self::InternalOk => (-32603, 200),
            Self::Unauthorized => (-32600, 401),
        }
    }
}

/// What a client sent, cut where it is longer than anybody reads.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    const MOST_BYTES: usize = 512;
    if text.len() <= MOST_BYTES {
        return Cow::Borrowed(text);
    }
    let end = (0..=MOST_BYTES).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    Cow::Owned(format!("{}…", &text[..end]))
}

/// One thing that is wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Where: a JSON pointer into the body, or the name of a header.
    pub at: String,
    /// What is wrong there.
    pub message: String,
}

impl Fault {
    /// How many faults one answer tells.
    pub const MOST: usize = 16;

    /// A fault at a JSON pointer or header.
    ///
    /// Both may repeat what a client sent, and are cut where they are longer than anybody reads.
    pub fn new(at: impl Into<String>, message: impl Into<String>) -> Self {
        let cut = |text: String| match excerpt(&text) {
            Cow::Owned(short) => short,
            Cow::Borrowed(_) => text,
        };
        Self { at: cut(at.into()), message: cut(message.into()) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.at, self.message)
        }
    }
}

/// An error answer: everything but the id of the request it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ProtocolError {
    condition: Condition,
    revision: Revision,
    message: Cow<'static, str>,
    data: Option<Box<Map<String, Value>>>,
    retry_after: Option<Duration>,
}

impl ProtocolError {
    /// An error without data, in the newest revision.
    pub fn new(condition: Condition, message: impl Into<Cow<'static, str>>) -> Self {
        let (revision, message) = (Revision::LATEST, message.into());
        Self { condition, revision, message, data: None, retry_after: None }
    }

    /// The same error with the code and the status of a revision.
    #[must_use]
    pub fn in_revision(mut self, revision: Revision) -> Self {
        self.revision = revision;
        self
    }

    /// Adds `data.faults`: everything found wrong.
    #[must_use]
    ///
    /// The first [`Fault::MOST`] of them are told.
    pub fn with_faults(self, faults: Vec<Fault>) -> Self {
        let faults = faults
            .into_iter()
            .take(Fault::MOST)
            .map(|Fault { at, message }| Value::from_iter([("at", at), ("message", message)]))
            .collect::<Vec<_>>();
        self.with_data("faults", faults)
    }

    /// Adds a member to `data`.
    #[must_use]
    pub fn with_data(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.data.get_or_insert_default().insert(key.into(), value.into());
        self
    }

    /// Tells the client how long to wait before it tries again.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Why the request failed.
    pub fn condition(&self) -> Condition {
        self.condition
    }

    /// The JSON-RPC code.
    pub fn code(&self) -> i32 {
        self.condition.code(self.revision)
    }

    /// The HTTP status.
    pub fn http_status(&self) -> u16 {
        self.condition.http_status(self.revision)
    }

    /// The text for the client.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The members of `data`.
    pub fn data(&self) -> Option<&Map<String, Value>> {
        self.data.as_deref()
    }

    /// How long the client should wait before it tries again.
    pub fn retry_delay(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Appends the whole JSON-RPC error response. Without an id there is no `id` member.
    pub fn write_response(&self, id: Option<&RequestId>, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
        if let Some(id) = id {
            out.extend_from_slice(br#""id":"#);
            id.write_json(out);
            out.push(b',');
        }
        out.extend_from_slice(br#""error":{"code":"#);
        json::write_i64(out, self.code().into());
        out.extend_from_slice(br#","message":"#);
        json::write_string(out, &self.message);
        if let Some(data) = &self.data {
            out.extend_from_slice(br#","data":"#);
            json::write_serialized(out, data);
        }
        out.extend_from_slice(b"}}");
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProtocolError {}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(error: &ProtocolError, id: Option<&RequestId>) -> String {
        let mut out = Vec::new();
        error.write_response(id, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_a_client_sent_is_cut_where_nobody_reads_it() {
        assert_eq!(excerpt("short"), "short");
        let long = "é".repeat(10_000);
        let cut = excerpt(&long);
        assert!(cut.len() < 600 && cut.ends_with('…'), "{cut}");
        assert!(Fault::new(&long, &long).to_string().len() < 1200);
        let many =
            ProtocolError::new(Condition::NotFound, "many").with_faults(vec![Fault::new("a", "b"); 1000]);
        assert_eq!(many.data().unwrap()["faults"].as_array().unwrap().len(), Fault::MOST);
    }

    #[test]
    fn a_plain_error_is_exactly_this() {
        let error = ProtocolError::new(Condition::MethodNotFound, "unknown method `a\"b`");
        assert_eq!(
            written(&error, Some(&RequestId::from("x"))),
            r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"unknown method `a\"b`"}}"#
        );
    }

    #[test]
    fn without_an_id_there_is_no_member_for_it() {
        let error = ProtocolError::new(Condition::Forbidden, "no");
        assert_eq!(written(&error, None), r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}"#);
    }

    #[test]
    fn faults_and_other_data_stand_side_by_side() {
        let error = ProtocolError::new(Condition::UnsupportedRevision, "not served")
            .with_data("supported", vec!["2026-07-28"])
            .with_data("requested", "1900-01-01")
            .with_faults(vec![Fault::new("/a", "missing"), Fault::new("mcp-method", "twice")]);
        let response: Value = serde_json::from_str(&written(&error, Some(&1.into()))).unwrap();
        let faults = json!([{"at": "/a", "message": "missing"}, {"at": "mcp-method", "message": "twice"}]);
        assert_eq!(
            response["error"]["data"],
            json!({"supported": ["2026-07-28"], "requested": "1900-01-01", "faults": faults})
        );
        assert_eq!(serde_json::to_value(Fault::new("/a", "missing")).unwrap(), faults[0]);
    }

    #[test]
    fn an_error_keeps_what_it_was_made_of() {
        let error =
            ProtocolError::new(Condition::RateLimited, "slow down").retry_after(Duration::from_secs(2));
        assert_eq!((error.condition(), error.message()), (Condition::RateLimited, "slow down"));
        assert_eq!((error.retry_delay(), error.data()), (Some(Duration::from_secs(2)), None));
        assert_eq!(error.to_string(), "slow down");
    }

    #[test]
    fn codes_and_statuses_are_those_of_the_specification() {
        use Condition::*;
        for (condition, code, status) in [
            (Parse, -32700, 400),
            (InvalidRequest, -32600, 400),
            (HeaderMismatch, -32020, 400),
            (MissingCapability, -32021, 400),
            (UnsupportedRevision, -32022, 400),
            (InvalidMeta, -32602, 400),
            (NotFound, -32602, 200),
            (ResourceNotFound, -32602, 200),
            (MethodNotFound, -32601, 404),
            (Application(7), 7, 200),
            (InternalOk, -32603, 200),
            (Unauthorized, -32600, 401),
            (Forbidden, -32600, 403),
            (MethodNotAllowed, -32600, 405),
            (NotAcceptable, -32600, 406),
            (TooLarge, -32600, 413),
            (UnsupportedMediaType, -32600, 415),
            (RateLimited, -31999, 429),
            (Internal, -32603, 500),
            (Overloaded, -32603, 503),
            (Deadline, -32603, 504),
        ] {
            let error = ProtocolError::new(condition, "");
            assert_eq!((error.code(), error.http_status()), (code, status), "{condition:?}");
        }
    }

    #[test]
    fn older_revisions_answer_200_to_what_they_took_and_know_no_later_codes() {
        use Condition::*;
        for (condition, code, status) in [
            (Parse, -32700, 400),
            (InvalidRequest, -32600, 400),
            (MissingCapability, -32602, 200),
            (UnsupportedRevision, -32022, 400),
            (InvalidMeta, -32602, 200),
            (NotFound, -32602, 200),
            (ResourceNotFound, -32002, 200),
            (MethodNotFound, -32601, 200),
            (Application(7), 7, 200),
            (InternalOk, -32603, 200),
            (Unauthorized, -32600, 401),
            (RateLimited, -31999, 429),
            (Internal, -32603, 200),
            (Overloaded, -32603, 503),
            (Deadline, -32603, 200),
        ] {
            for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
                let error = ProtocolError::new(condition, "").in_revision(revision);
                assert_eq!((error.code(), error.http_status()), (code, status), "{condition:?}");
            }
        }
    }
}
