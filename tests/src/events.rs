//! Server-sent events, as they come in.

use std::collections::VecDeque;

use serde_json::Value;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A message.
    Message(Value),
    /// A comment, which keeps the stream alive.
    Comment,
}

impl Event {
    /// The message, unless it is a comment.
    #[must_use]
    pub fn into_message(self) -> Option<Value> {
        match self {
            Self::Message(message) => Some(message),
            Self::Comment => None,
        }
    }

    /// The value of a progress notification.
    #[must_use]
    pub fn progress(&self) -> Option<f64> {
        match self {
            Self::Message(message) if message["method"] == "notifications/progress" => {
                message["params"]["progress"].as_f64()
            }
            _ => None,
        }
    }
}

/// Takes a stream of events apart, however its bytes arrive.
#[derive(Debug, Default)]
pub struct Events {
    unfinished: Vec<u8>,
    ready: VecDeque<Event>,
}

impl Events {
    /// Takes more bytes.
    ///
    /// # Panics
    /// If they are not what this server sends: one line of data, or one comment, an event.
    pub fn push(&mut self, bytes: &[u8]) {
        self.unfinished.extend_from_slice(bytes);
        while let Some(end) = self.unfinished.windows(2).position(|pair| pair == b"\n\n") {
            let event: Vec<u8> = self.unfinished.drain(..end + 2).collect();
            let event = std::str::from_utf8(&event).expect("events are UTF-8").trim_end();
            let event = match event.strip_prefix("data: ") {
                Some(data) => Event::Message(serde_json::from_str(data).expect("data is JSON")),
                None => {
                    assert!(event.starts_with(':'), "neither data nor a comment: {event}");
                    Event::Comment
                }
            };
            self.ready.push_back(event);
        }
    }

    /// Whether the stream could end here.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unfinished.is_empty()
    }
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }
}
