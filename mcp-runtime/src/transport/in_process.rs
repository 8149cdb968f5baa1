//! Calls within the process: the engine without a byte stream.

use std::{
    future::{poll_fn, ready},
    panic::resume_unwind,
    sync::Arc,
};

use http::Extensions;
use tokio::{task::JoinHandle, time::Instant};

use crate::{
    engine::{CallStream, Channel, Conversation, Engine, Incoming, Reply},
    handler::{CancellationReason, CancellationToken},
    subscription::Subscription,
};

/// One message to the engine, and what comes back. Dropping it is how a client goes away: the handler's token is
/// signalled by the time the drop returns.
pub(crate) struct Exchange {
    token: CancellationToken,
    state: State,
}

enum State {
    /// The engine is at work, on a task of its own.
    Asked(JoinHandle<Reply>),
    /// The handler speaks; it goes on as it is listened to.
    Streaming(CallStream),
    /// Changes are told as they are listened to.
    Listening(Subscription),
    Ended,
}

impl Exchange {
    /// Hands a message over; the engine starts on it whether it is waited for or not.
    pub(crate) fn begin(
        engine: Arc<Engine>,
        message: Vec<u8>,
        extensions: Extensions,
        conversation: Arc<Conversation>,
    ) -> Self {
        Self::begin_after(ready(None), engine, message, extensions, conversation)
    }

    /// [`begin`](Self::begin) when something else is done, unless that comes to a reply.
    pub(crate) fn begin_after(
        first: impl Future<Output = Option<Reply>> + Send + 'static,
        engine: Arc<Engine>,
        message: Vec<u8>,
        extensions: Extensions,
        conversation: Arc<Conversation>,
    ) -> Self {
        let token = CancellationToken::new();
        let (arrived, kept) = (Instant::now(), token.clone());
        let asked = tokio::spawn(async move {
            if let Some(reply) = first.await {
                return reply;
            }
            let channel = Channel::Lines { extensions, conversation };
            engine.handle(Incoming { body: &message, arrived, token, channel }).await
        });
        Self { token: kept, state: State::Asked(asked) }
    }

    /// The next messages, a line each; `None` when there are none and will be none.
    ///
    /// # Panics
    /// If the application's own code panicked outside of a handler.
    pub(crate) async fn lines(&mut self) -> Option<Vec<u8>> {
        loop {
            match &mut self.state {
                State::Asked(asked) => {
                    let reply = asked.await;
                    self.state = State::Ended;
                    match reply {
                        Ok(Reply::Answer(answer)) => return Some(answer.message),
                        Ok(Reply::Accepted) => {}
                        Ok(Reply::Stream(stream)) => self.state = State::Streaming(stream),
                        Ok(Reply::Subscription(subscription)) => self.state = State::Listening(subscription),
                        Err(failed) => match failed.try_into_panic() {
                            Ok(panic) => resume_unwind(panic),
                            Err(_) => tracing::debug!("the runtime ended before the server answered"),
                        },
                    }
                }
                State::Streaming(stream) => {
                    let lines = poll_fn(|cx| stream.poll_chunk(cx)).await;
                    if lines.is_none() {
                        self.state = State::Ended;
                    }
                    return lines;
                }
                State::Listening(subscription) => return poll_fn(|cx| subscription.poll_chunk(cx)).await,
                State::Ended => return None,
            }
        }
    }

    /// The subscription that was opened.
    pub(crate) fn subscription(&self) -> Option<&Subscription> {
        match &self.state {
            State::Listening(subscription) => Some(subscription),
            _ => None,
        }
    }

    /// Cancels the request as `notifications/cancelled` does, and hears no more of it.
    pub(crate) fn cancel(self) {
        self.token.cancel(CancellationReason::ClientCancelled);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if matches!(self.state, State::Ended) {
            return;
        }
        self.token.cancel(CancellationReason::ClientDisconnected);
        if let State::Asked(asked) = &self.state {
            asked.abort();
        }
    }
}
