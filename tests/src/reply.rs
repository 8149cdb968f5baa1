//! Responses, read whole.

use std::fmt;

use http::HeaderMap;
use serde_json::Value;

use crate::{Event, Events};

/// An HTTP response.
#[derive(Clone)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, without its framing.
    pub body: Vec<u8>,
}

impl Reply {
    /// The value of a header, which comes once at most.
    ///
    /// # Panics
    /// If it comes twice.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.get_all(name).iter();
        let value = values.next()?;
        assert!(values.next().is_none(), "`{name}` comes twice: {self:?}");
        value.to_str().ok()
    }

    /// The one message of the body.
    ///
    /// # Panics
    /// If it is not JSON, or does not call itself so.
    #[must_use]
    pub fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The messages of the body's events.
    ///
    /// # Panics
    /// If it is not a stream of events.
    #[must_use]
    pub fn events(&self) -> Vec<Value> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"), "{self:?}");
        let mut events = Events::default();
        events.push(&self.body);
        std::iter::from_fn(|| events.next()).filter_map(Event::into_message).collect()
    }

    /// The answer: the body's one message, or the last of its events.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn answer(&self) -> Value {
        match self.header("content-type") {
            Some("text/event-stream") => self.events().pop().expect("an answer"),
            _ => self.json(),
        }
    }

    /// The result.
    ///
    /// # Panics
    /// If the request failed.
    #[must_use]
    pub fn result(&self) -> Value {
        let mut answer = self.answer();
        assert!(answer.get("error").is_none(), "{self:?}");
        answer["result"].take()
    }

    /// The error.
    ///
    /// # Panics
    /// If the request succeeded.
    #[must_use]
    pub fn error(&self) -> Value {
        let mut answer = self.answer();
        assert_eq!(answer["jsonrpc"], "2.0", "{self:?}");
        assert!(answer.get("result").is_none(), "{self:?}");
        answer["error"].take()
    }

    /// The status and the error's code.
    #[must_use]
    pub fn refusal(&self) -> (u16, i64) {
        (self.status, self.error()["code"].as_i64().unwrap_or_default())
    }

    /// Where the faults are, in the order in which they are told.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let error = self.error();
        let faults = error["data"]["faults"].as_array().into_iter().flatten();
        faults.map(|fault| fault["at"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The text of the first block of a tool's result, or of a resource's contents.
    #[must_use]
    pub fn text(&self) -> String {
        let result = self.result();
        let text = &result["content"][0]["text"];
        let text = text.as_str().or_else(|| result["contents"][0]["text"].as_str());
        text.unwrap_or_default().to_owned()
    }

    /// The text of a tool's failure.
    ///
    /// # Panics
    /// If it did not fail.
    #[must_use]
    pub fn failure(&self) -> String {
        assert_eq!(self.result()["isError"], true, "{self:?}");
        self.text()
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {}", self.status, self.headers, String::from_utf8_lossy(&self.body))
    }
}
