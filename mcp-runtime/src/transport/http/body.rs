//! Bodies: reading a request's within its bounds, and writing a response's.

use std::{
    convert::Infallible,
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tokio::time::{Instant, Sleep, sleep, timeout_at};

use super::activity::Ticket;
use crate::{engine::CallStream, subscription::Subscription};

/// Why a body could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadError {
    TooLarge,
    TooSlow,
    /// The server shuts down.
    TooLate,
    Broken,
}

/// Whether a body is declared to be larger than `limit` bytes.
pub(super) fn is_too_large(headers: &HeaderMap, limit: usize) -> bool {
    declared_length(headers).is_some_and(|length| length > limit as u64)
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads a whole body of at most `limit` bytes, before the deadline and before the server is `stopping`, which is only
/// asked for a body that has to be waited for.
pub(super) async fn read<B: Body, S: Future<Output = ()>>(
    headers: &HeaderMap,
    body: B,
    limit: usize,
    deadline: Instant,
    stopping: impl FnOnce() -> S,
) -> Result<Bytes, ReadError> {
    let declared = declared_length(headers).unwrap_or(0);
    if declared > limit as u64 {
        return Err(ReadError::TooLarge);
    }
    let expected = usize::try_from(declared).unwrap_or(0);
    let mut collected = pin!(collect(body, limit, expected));
    // Most bodies are there already. Waiting for the others takes a timer, and more, in a box of its own.
    match poll_fn(|cx| Poll::Ready(collected.as_mut().poll(cx))).await {
        Poll::Ready(read) => read,
        Poll::Pending => Box::pin(wait(collected, deadline, stopping())).await,
    }
}

async fn wait(
    collected: Pin<&mut impl Future<Output = Result<Bytes, ReadError>>>,
    deadline: Instant,
    stopping: impl Future<Output = ()>,
) -> Result<Bytes, ReadError> {
    tokio::select! {
        biased;
        read = timeout_at(deadline, collected) => read.unwrap_or(Err(ReadError::TooSlow)),
        () = stopping => Err(ReadError::TooLate),
    }
}

/// The most that is reserved for a body because its length was declared; what has not arrived may never.
const RESERVED: usize = 2 << 20;

async fn collect<B: Body>(body: B, limit: usize, expected: usize) -> Result<Bytes, ReadError> {
    let mut chunks = Chunks(pin!(body));
    let Some(mut first) = chunks.next().await? else {
        return Ok(Bytes::new());
    };
    // Most bodies come in one piece, which need not be copied.
    let mut second = None;
    if first.remaining() >= expected && first.remaining() <= limit {
        second = chunks.next().await?;
        if second.is_none() {
            return Ok(first.copy_to_bytes(first.remaining()));
        }
    }
    let mut whole = Vec::with_capacity(expected.min(RESERVED).max(first.remaining().min(limit)));
    append(&mut whole, first, limit)?;
    if let Some(second) = second {
        append(&mut whole, second, limit)?;
    }
    while let Some(more) = chunks.next().await? {
        append(&mut whole, more, limit)?;
    }
    Ok(whole.into())
}

fn append(whole: &mut Vec<u8>, mut data: impl Buf, limit: usize) -> Result<(), ReadError> {
    if data.remaining() > limit - whole.len() {
        return Err(ReadError::TooLarge);
    }
    while data.has_remaining() {
        let chunk = data.chunk();
        whole.extend_from_slice(chunk);
        let read = chunk.len();
        data.advance(read);
    }
    Ok(())
}

/// The pieces of a body.
struct Chunks<'b, B>(Pin<&'b mut B>);

impl<B: Body> Chunks<'_, B> {
    /// The next piece that is not empty. Trailers say nothing here.
    async fn next(&mut self) -> Result<Option<B::Data>, ReadError> {
        while let Some(frame) = self.0.frame().await {
            let frame = frame.map_err(|_| ReadError::Broken)?;
            if let Ok(data) = frame.into_data()
                && data.has_remaining()
            {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}

/// The body of a response: one message, or a stream of events.
pub struct ResponseBody {
    inner: Inner,
    ticket: Option<Ticket>,
    /// The most bytes of a whole message that are handed over at once.
    piece: usize,
}

enum Inner {
    Whole(Bytes),
    Stream(Box<EventStream>),
    /// Keeps itself alive.
    Subscription(Subscription),
}

struct EventStream {
    calls: CallStream,
    keep_alive: Option<KeepAlive>,
}

/// Writes a comment when nothing else was written for a while.
struct KeepAlive {
    every: Duration,
    idle: Pin<Box<Sleep>>,
}

impl KeepAlive {
    const COMMENT: Bytes = Bytes::from_static(b":\n\n");

    fn restart(&mut self) {
        self.idle.as_mut().reset(Instant::now() + self.every);
    }
}

impl ResponseBody {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::new(Inner::Whole(bytes.into()))
    }

    pub(super) fn stream(calls: CallStream, keep_alive: Option<Duration>) -> Self {
        let keep_alive = keep_alive.map(|every| KeepAlive { every, idle: Box::pin(sleep(every)) });
        Self::new(Inner::Stream(Box::new(EventStream { calls, keep_alive })))
    }

    pub(super) fn subscription(subscription: Subscription) -> Self {
        Self::new(Inner::Subscription(subscription))
    }

    fn new(inner: Inner) -> Self {
        Self { inner, ticket: None, piece: usize::MAX }
    }

    /// Hands a whole message over in pieces, as the peer takes them: what HTTP/2 was given, it keeps until then.
    #[cfg(feature = "http2")]
    pub(super) fn in_pieces(mut self) -> Self {
        if let (Inner::Whole(bytes), Some(ticket)) = (&self.inner, &mut self.ticket)
            && !bytes.is_empty()
        {
            ticket.answered();
        }
        Self { piece: 64 << 10, ..self }
    }

    /// The subscription that it is the stream of, with the request's ticket.
    pub(super) fn into_subscription(self) -> Result<(Subscription, Option<Ticket>), Self> {
        match self.inner {
            Inner::Subscription(subscription) => Ok((subscription, self.ticket)),
            inner => Err(Self { inner, ..self }),
        }
    }

    pub(super) fn is_subscription(&self) -> bool {
        matches!(self.inner, Inner::Subscription(_))
    }

    /// Keeps the request's ticket until all is handed over.
    pub(super) fn keep_ticket(&mut self, ticket: Ticket) {
        self.ticket = Some(ticket);
    }
}

impl EventStream {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Poll::Ready(chunk) = self.calls.poll_chunk(cx) {
            if let Some(keep_alive) = &mut self.keep_alive {
                keep_alive.restart();
            }
            return Poll::Ready(chunk.map(Bytes::from));
        }
        if let Some(keep_alive) = &mut self.keep_alive
            && keep_alive.idle.as_mut().poll(cx).is_ready()
        {
            keep_alive.restart();
            // Polled again, so that the timer wakes this task.
            cx.waker().wake_by_ref();
            return Poll::Ready(Some(KeepAlive::COMMENT));
        }
        Poll::Pending
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Self { inner, ticket, piece } = &mut *self;
        match inner {
            Inner::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Inner::Whole(bytes) => {
                let piece = bytes.split_to(bytes.len().min(*piece));
                match ticket {
                    Some(ticket) if bytes.is_empty() => ticket.taken(),
                    Some(ticket) => ticket.partly_taken(),
                    None => {}
                }
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            Inner::Stream(stream) => {
                stream.poll_next(cx).map(|chunk| chunk.map(|chunk| Ok(Frame::data(chunk))))
            }
            Inner::Subscription(subscription) => subscription
                .poll_chunk(cx)
                .map(|chunk| chunk.map(|chunk| Ok(Frame::data(Bytes::from(chunk))))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.inner, Inner::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.inner {
            Inner::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Inner::Stream(_) | Inner::Subscription(_) => SizeHint::default(),
        }
    }
}

impl std::fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseBody").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::VecDeque, future::pending};

    use http_body_util::StreamBody;

    use super::*;

    fn chunks(sizes: &[usize]) -> impl Body<Data = Bytes, Error = Infallible> + use<> {
        let chunks: VecDeque<usize> = sizes.iter().copied().collect();
        struct Chunks(VecDeque<usize>);
        impl futures_core::Stream for Chunks {
            type Item = Result<Frame<Bytes>, Infallible>;
            fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
                Poll::Ready(self.0.pop_front().map(|size| Ok(Frame::data(Bytes::from(vec![b'x'; size])))))
            }
        }
        StreamBody::new(Chunks(chunks))
    }

    async fn length(sizes: &[usize], declared: Option<usize>, limit: usize) -> Result<usize, ReadError> {
        let mut headers = HeaderMap::new();
        if let Some(declared) = declared {
            headers.insert(http::header::CONTENT_LENGTH, declared.into());
        }
        let deadline = Instant::now() + Duration::from_secs(1);
        read(&headers, chunks(sizes), limit, deadline, pending).await.map(|bytes| bytes.len())
    }

    #[tokio::test]
    async fn any_split_of_a_body_is_read_whole() {
        for sizes in [&[10][..], &[3, 7], &[0, 5, 0, 5], &[1; 10], &[]] {
            let total: usize = sizes.iter().sum();
            for declared in [None, Some(total), Some(4)] {
                assert_eq!(length(sizes, declared, 10).await, Ok(total), "{sizes:?} {declared:?}");
            }
        }
    }

    #[tokio::test]
    async fn the_limit_holds_whatever_was_declared() {
        for (sizes, declared) in
            [(&[11][..], None), (&[6, 5], None), (&[1; 11], Some(4)), (&[], Some(11)), (&[5, 5, 1], Some(10))]
        {
            assert_eq!(length(sizes, declared, 10).await, Err(ReadError::TooLarge), "{sizes:?} {declared:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_is_given_up() {
        struct Never;
        impl futures_core::Stream for Never {
            type Item = Result<Frame<Bytes>, Infallible>;
            fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
                Poll::Pending
            }
        }
        let deadline = Instant::now() + Duration::from_secs(60);
        let read = read(&HeaderMap::new(), StreamBody::new(Never), 10, deadline, pending).await;
        assert_eq!(read, Err(ReadError::TooSlow));
        assert_eq!(Instant::now(), deadline);
    }
}
