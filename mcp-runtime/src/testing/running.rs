//! A request that has been made.

use std::marker::PhantomData;

use serde::Deserialize;
use serde_json::Value;

use super::{
    error::RpcError,
    response::{Answered, ProgressUpdate, Response},
};
use crate::transport::in_process::Exchange;

/// A request that has been made. Dropping it is how a client disconnects: the handler's token is signalled by the time
/// the drop returns.
///
/// Progress is read as it is asked for, so that a handler waits for a client that does not look.
#[must_use = "dropping a running request cancels it"]
pub struct Running<T> {
    exchange: Exchange,
    heard: Response,
    /// How much of the progress has been given out.
    seen: usize,
    answer: Option<Result<Value, RpcError>>,
    marker: PhantomData<fn() -> T>,
}

/// The members by which messages from a server are told apart.
#[derive(Deserialize)]
struct Message {
    method: Option<String>,
    #[serde(default)]
    params: Value,
    result: Option<Value>,
    error: Option<RpcError>,
}

impl<T: Answered> Running<T> {
    pub(super) fn new(exchange: Exchange) -> Self {
        Self { exchange, heard: Response::default(), seen: 0, answer: None, marker: PhantomData }
    }

    /// Waits for the next progress; `None` when the answer has come instead.
    pub async fn next_progress(&mut self) -> Option<ProgressUpdate> {
        while self.seen == self.heard.progress.len() {
            if !self.listen().await {
                return None;
            }
        }
        self.seen += 1;
        self.heard.progress.get(self.seen - 1).cloned()
    }

    /// Cancels the request as a client over stdio does, with `notifications/cancelled`.
    pub fn cancel(self) {
        self.exchange.cancel();
    }

    /// Waits for the answer.
    ///
    /// # Errors
    /// The error that the server answered with.
    ///
    /// # Panics
    /// If the answer is not what the specification says, or the application panicked outside of a handler.
    pub async fn finish(mut self) -> Result<T, RpcError> {
        while self.listen().await {}
        let Some(answer) = self.answer else { panic!("the server ended without an answer") };
        self.heard.result = answer?;
        match T::read(self.heard) {
            Ok(response) => Ok(response),
            Err(error) => panic!("the server's result is malformed: {error}"),
        }
    }

    /// Hears the next messages; false if the answer was the last.
    async fn listen(&mut self) -> bool {
        let Some(lines) = self.exchange.lines().await else { return false };
        for message in parse(&lines) {
            self.hear(message);
        }
        true
    }

    fn hear(&mut self, message: Value) {
        let text = message.to_string();
        let Ok(message) = serde_json::from_value::<Message>(message) else {
            panic!("the server sent what is no message: {text}")
        };
        match (message.method.as_deref(), message.result, message.error) {
            (Some("notifications/progress"), ..) => self.heard.progress.push(read(message.params)),
            (Some("notifications/message"), ..) => self.heard.logs.push(read(message.params)),
            (None, Some(result), None) => self.answer = Some(Ok(result)),
            (None, None, Some(error)) => self.answer = Some(Err(error)),
            _ => panic!("the server sent an unexpected message: {text}"),
        }
    }
}

impl<T> std::fmt::Debug for Running<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running")
            .field("heard", &self.heard)
            .field("answer", &self.answer)
            .finish_non_exhaustive()
    }
}

/// One message a line.
pub(super) fn parse(lines: &[u8]) -> impl Iterator<Item = Value> {
    lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(
        |line| match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => {
                panic!("the server sent what is not JSON: {error}: {}", String::from_utf8_lossy(line))
            }
        },
    )
}

fn read<N: serde::de::DeserializeOwned>(params: Value) -> N {
    match serde_json::from_value(params) {
        Ok(notification) => notification,
        Err(error) => panic!("the server sent a malformed notification: {error}"),
    }
}
