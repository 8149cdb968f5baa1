//! A subscription's stream that has its HTTP/1.1 connection to itself.
//!
//! A stream may say nothing for hours, and hyper keeps 16 KiB of buffers for every connection. So when a connection
//! begins to answer with a stream, it is taken back from hyper, and the rest of its life is simple: chunks go out as
//! they come, and whatever comes in is only waited for because its end is the client's. The connection ends with the
//! stream, as its head says.

use std::{
    io,
    pin::Pin,
    sync::{Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use http::{Response, Version as HttpVersion};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{ResponseBody, activity::Ticket, socket::Socket};
use crate::subscription::{EndReason, Subscription};

/// The answer that waits for its connection to be taken back.
#[derive(Default)]
pub(super) struct Handover(Mutex<Option<Answer>>);

/// A stream with its head.
pub(super) struct Answer {
    head: Vec<u8>,
    subscription: Subscription,
    _ticket: Option<Ticket>,
}

impl Handover {
    /// Offers a response to a request; it comes back unless it is a stream in chunks.
    pub(super) fn offer(
        &self,
        version: HttpVersion,
        response: Response<ResponseBody>,
    ) -> Option<Response<ResponseBody>> {
        if version != HttpVersion::HTTP_11 || !response.body().is_subscription() {
            return Some(response);
        }
        let (parts, body) = response.into_parts();
        match body.into_subscription() {
            Ok((subscription, ticket)) => {
                let answer = Answer { head: head(&parts), subscription, _ticket: ticket };
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
                None
            }
            Err(body) => Some(Response::from_parts(parts, body)),
        }
    }

    /// The answer that was offered.
    pub(super) fn take(&self) -> Option<Answer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The head of a response whose body comes in chunks, on a connection that ends with it.
fn head(parts: &http::response::Parts) -> Vec<u8> {
    let mut head = Vec::with_capacity(256);
    let reason = parts.status.canonical_reason().unwrap_or_default();
    head.extend_from_slice(format!("HTTP/1.1 {} {reason}\r\n", parts.status.as_str()).as_bytes());
    for (name, value) in &parts.headers {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    let date = httpdate::fmt_http_date(std::time::SystemTime::now());
    let rest = format!("transfer-encoding: chunked\r\nconnection: close\r\ndate: {date}\r\n\r\n");
    head.extend_from_slice(rest.as_bytes());
    head
}

impl std::fmt::Debug for Handover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handover").finish_non_exhaustive()
    }
}

/// Writes a stream to its connection.
pub(super) struct Relay<Io> {
    socket: Socket<Io>,
    answer: Answer,
    /// What is being written, and how much of it was.
    output: Vec<u8>,
    written: usize,
    /// A chunk is in the output.
    filled: bool,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The stream goes on.
    Open,
    /// Its end is in the output.
    Ending,
    /// All is written; the socket is being closed.
    Closing,
}

impl<Io: AsyncRead + AsyncWrite + Unpin> Relay<Io> {
    pub(super) fn new(socket: Socket<Io>, mut answer: Answer) -> Self {
        let output = std::mem::take(&mut answer.head);
        Self { socket, answer, output, written: 0, filled: false, state: State::Open }
    }

    /// Takes the next chunk, or the end, into the output.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match ready!(self.answer.subscription.poll_chunk(cx)) {
            Some(chunk) => {
                self.output.reserve(chunk.len() + 16);
                self.output.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                self.output.extend_from_slice(&chunk);
                self.output.extend_from_slice(b"\r\n");
            }
            None => {
                self.output.extend_from_slice(b"0\r\n\r\n");
                self.state = State::Ending;
            }
        }
        self.filled = true;
        Poll::Ready(())
    }

    /// Writes all of the output. Meanwhile the stream is not asked for more, so that what changes is merged.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.output.len() {
            match ready!(Pin::new(&mut self.socket).poll_write(cx, &self.output[self.written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
        }
        ready!(Pin::new(&mut self.socket).poll_flush(cx))?;
        self.output = Vec::new();
        self.written = 0;
        self.filled = false;
        Poll::Ready(Ok(()))
    }

    /// Ready when the client has gone. What else it sends means nothing any more.
    fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut bytes = [0; 64];
            let mut buffer = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }

    fn poll_relay(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state != State::Closing && self.poll_gone(cx)?.is_ready() {
            return Poll::Ready(Ok(()));
        }
        loop {
            if self.state == State::Closing {
                return Pin::new(&mut self.socket).poll_shutdown(cx);
            }
            // The head goes out with the first chunk.
            if self.state == State::Open && !self.filled {
                let chunk = self.poll_chunk(cx);
                if self.output.is_empty() {
                    ready!(chunk);
                }
            }
            ready!(self.poll_write(cx))?;
            if self.state == State::Ending {
                self.state = State::Closing;
            }
        }
    }
}

impl<Io: AsyncRead + AsyncWrite + Unpin> Future for Relay<Io> {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let relayed = ready!(self.poll_relay(cx));
        if matches!(&relayed, Err(error) if error.kind() == io::ErrorKind::TimedOut) {
            self.answer.subscription.cut(EndReason::Stalled);
        }
        Poll::Ready(relayed)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, task::Waker, time::Duration};

    use http::Extensions;
    use serde_json::json;
    use tokio::time::Instant;

    use super::*;
    use crate::{
        engine::{Channel, Incoming, Reply},
        handler::CancellationToken,
        prelude::{ChangeKind, ChangePublisher, Endpoint, McpServer, Tool},
        protocol::keys,
        subscription::allow_all,
    };

    /// A peer that reads nothing and goes on talking.
    #[derive(Default)]
    struct Talker {
        silent: bool,
    }

    impl AsyncRead for Talker {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            self.silent = !self.silent;
            if !self.silent {
                return Poll::Pending;
            }
            buffer.put_slice(b"x");
            Poll::Ready(Ok(()))
        }
    }

    impl AsyncWrite for Talker {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Pending
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_talks_and_does_not_read_piles_nothing_up() {
        let endpoint = Endpoint::builder("/mcp").tool(Tool::new("t").handler(async || "t"));
        let endpoint = endpoint.changes([ChangeKind::Tools]);
        let server =
            McpServer::builder().endpoint(endpoint).subscription_authorizer(allow_all()).build().unwrap();
        let meta = json!({ keys::PROTOCOL_VERSION: "2026-07-28", keys::CLIENT_CAPABILITIES: {} });
        let params = json!({ "_meta": meta, "notifications": { "toolsListChanged": true } });
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params });
        let message = message.to_string();
        let incoming = Incoming {
            body: message.as_bytes(),
            arrived: Instant::now(),
            token: CancellationToken::new(),
            channel: Channel::Lines { extensions: Extensions::new(), conversation: Arc::default() },
        };
        let Reply::Subscription(subscription) = server.endpoints[0].now().handle(incoming).await else {
            panic!("no subscription");
        };
        let (socket, _) = Socket::open(Talker::default(), Duration::from_secs(30)).await.unwrap();
        let mut relay = Relay::new(socket, Answer { head: Vec::new(), subscription, _ticket: None });
        let mut poll = || {
            assert!(Pin::new(&mut relay).poll(&mut Context::from_waker(Waker::noop())).is_pending());
            relay.output.len()
        };
        let acknowledgement = poll();
        for _ in 0..100 {
            server.publisher().tools_changed().unwrap();
            assert_eq!(poll(), acknowledgement);
        }
    }
}
