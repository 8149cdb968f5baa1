//! A message on its way to its reply.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use tracing::Span;

use super::{
    Answer, Reply,
    call::{Call, Outcome},
    panic::{Panic, caught, poll_caught},
    request::Refused,
};
use crate::protocol::{Condition, ProtocolError, RequestId};

/// A future in a box of its own: what few requests have to wait for is kept out of the way of the others.
pub(super) type Waiting<'e, T> = Pin<Box<dyn Future<Output = T> + Send + 'e>>;

/// The future of a reply. All that can be done without waiting was done before it was made, so that it is small.
///
/// Dropping it cancels the request: a running handler is signalled at once, and ends on its own.
pub(crate) enum Handling<'e> {
    /// There was nothing to wait for.
    Replied(Option<Reply>),
    /// The handler runs.
    Running(Running),
    /// The handler waits for a place, or the request for its admission.
    Waiting(Waiting<'e, Reply>),
}

/// A handler that runs within its response.
pub(crate) struct Running {
    call: Call,
    id: Option<RequestId>,
    span: Span,
}

/// What a request came to before anything was waited for.
pub(super) enum Started<'e> {
    /// It is answered.
    Answered(Reply),
    /// Its handler is ready to run.
    Running(Call),
    /// Its handler has no place yet.
    Queued(Waiting<'e, Result<Reply, Refused>>),
}

impl<'e> Handling<'e> {
    pub(super) fn replied(reply: impl Into<Reply>) -> Self {
        Self::Replied(Some(reply.into()))
    }

    /// Starts a request within its span.
    pub(super) fn start(
        span: Span,
        id: Option<&RequestId>,
        start: impl FnOnce() -> Result<Started<'e>, Refused>,
    ) -> Self {
        let started = span.in_scope(|| caught(start));
        match started {
            Ok(Ok(Started::Running(call))) => Self::Running(Running { call, id: id.cloned(), span }),
            Ok(Ok(Started::Answered(reply))) => Self::replied(reply),
            Ok(Ok(Started::Queued(queued))) => Self::Waiting(Box::pin(guarded(span, id.cloned(), queued))),
            Ok(Err(refused)) => Self::replied(refused.answer(id)),
            Err(panic) => Self::replied(span.in_scope(|| panicked(&panic, id))),
        }
    }
}

impl Started<'_> {
    /// The reply, in time.
    pub(super) async fn replied(self) -> Result<Reply, Refused> {
        match self {
            Self::Answered(reply) => Ok(reply),
            Self::Running(call) => Ok(call.await.into()),
            Self::Queued(queued) => queued.await,
        }
    }
}

impl Future for Handling<'_> {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        match &mut *self {
            Self::Replied(reply) => reply.take().map_or(Poll::Pending, Poll::Ready),
            Self::Running(running) => running.poll(cx),
            Self::Waiting(waiting) => waiting.as_mut().poll(cx),
        }
    }
}

impl Running {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Reply> {
        let _entered = self.span.enter();
        poll_caught(Pin::new(&mut self.call), cx).map(|ended| match ended {
            Ok(outcome) => outcome.into(),
            Err(panic) => panicked(&panic, self.id.as_ref()).into(),
        })
    }
}

/// Runs a request within its span; whatever happens, there is a reply.
pub(super) async fn guarded(
    span: Span,
    id: Option<RequestId>,
    request: impl Future<Output = Result<Reply, Refused>>,
) -> Reply {
    let mut request = pin!(request);
    poll_fn(|cx| {
        let _entered = span.enter();
        poll_caught(request.as_mut(), cx).map(|ended| match ended {
            Ok(Ok(reply)) => reply,
            Ok(Err(refused)) => refused.answer(id.as_ref()).into(),
            Err(panic) => panicked(&panic, id.as_ref()).into(),
        })
    })
    .await
}

/// The answer to a request that panicked outside of its handler. Its method and target are with its span.
fn panicked(Panic(message): &Panic, id: Option<&RequestId>) -> Answer {
    tracing::error!(panic = message, "a request panicked outside of its handler");
    Answer::error(&ProtocolError::new(Condition::Internal, "internal error"), id)
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

impl From<Outcome> for Reply {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Answer(answer) => Self::Answer(answer),
            Outcome::Stream(stream) => Self::Stream(stream),
        }
    }
}
