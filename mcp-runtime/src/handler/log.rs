//! Log notifications of one invocation.

use std::{fmt, future::poll_fn, sync::Arc};

use serde::Serialize;

use super::outbox::{Decision, Outbox};
use crate::protocol::{self, LogLevel};

/// Sends log notifications to the client that asked for them with its request.
///
/// Without `io.modelcontextprotocol/logLevel` in the request, or below that level, nothing is sent (specification:
/// `server/utilities/logging`, deprecated there: for the server's own logs use `tracing`). An endpoint declares the
/// `logging` capability if one of its handlers takes a `Logger`.
#[derive(Clone)]
pub struct Logger(Option<Sink>);

#[derive(Clone)]
struct Sink {
    outbox: Arc<Outbox>,
    threshold: LogLevel,
    name: Option<Arc<str>>,
}

impl Logger {
    pub(crate) fn new(outbox: Option<Arc<Outbox>>, threshold: Option<LogLevel>) -> Self {
        Self(outbox.zip(threshold).map(|(outbox, threshold)| Sink { outbox, threshold, name: None }))
    }

    /// The same logger under a name, which the client is shown.
    #[must_use]
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        if let Some(sink) = &mut self.0 {
            sink.name = Some(name.into());
        }
        self
    }

    /// Whether a message of this level would be sent.
    #[must_use]
    pub fn enabled(&self, level: LogLevel) -> bool {
        self.0.as_ref().is_some_and(|sink| level >= sink.threshold)
    }

    /// Sends one message: any value that serialises to JSON. Waits for room in the response's queue. A value that
    /// can't be serialised is dropped and logged by `tracing`.
    pub async fn log(&self, level: LogLevel, data: impl Serialize + Send) {
        let Some(sink) = self.0.as_ref().filter(|sink| level >= sink.threshold) else {
            return;
        };
        let data = match serde_json::to_string(&data) {
            Ok(data) => data,
            Err(error) => return tracing::error!(%error, "a log notification could not be serialised"),
        };
        let write = |out: &mut Vec<u8>| protocol::write_log(out, level, sink.name.as_deref(), &data);
        poll_fn(|cx| sink.outbox.poll_offer(cx, |_| Decision::<()>::Write, write)).await;
    }

    /// [`log`](Self::log) at the level `debug`.
    pub async fn debug(&self, data: impl Serialize + Send) {
        self.log(LogLevel::Debug, data).await;
    }

    /// [`log`](Self::log) at the level `info`.
    pub async fn info(&self, data: impl Serialize + Send) {
        self.log(LogLevel::Info, data).await;
    }

    /// [`log`](Self::log) at the level `warning`.
    pub async fn warning(&self, data: impl Serialize + Send) {
        self.log(LogLevel::Warning, data).await;
    }

    /// [`log`](Self::log) at the level `error`.
    pub async fn error(&self, data: impl Serialize + Send) {
        self.log(LogLevel::Error, data).await;
    }
}

impl fmt::Debug for Logger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Logger").field(&self.0.as_ref().map(|sink| sink.threshold)).finish()
    }
}
