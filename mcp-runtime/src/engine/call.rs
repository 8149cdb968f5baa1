//! A running handler: one future that moves.
//!
//! It begins within the response's future ([`Call`]). At the first notification it moves to a task of its own,
//! which feeds the response's stream. When the client goes away it moves to a task that lets it end. Wherever it is,
//! it holds its place among the running handlers until it has really ended.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::time::{Instant, sleep, sleep_until};
use tracing::Span;

use super::{
    Shared,
    answer::{Answer, Answerer, End},
    asking::Rounds,
    handling::Waiting,
    lifecycle::Phase,
    panic::{Panic, caught, poll_caught},
};
use crate::{
    handler::{CancellationReason, CancellationToken, Framing, HandlerFuture, Outbox, WorkGuard},
    protocol::{Condition, ProtocolError},
};

/// A handler that may be running: the future of what it comes to.
///
/// It ends when the handler has an answer, or something to say before it. Dropping it is how a client goes away: the
/// token is signalled at once.
pub(crate) struct Call(State);

enum State {
    /// The handler runs.
    Running {
        work: Work,
        /// What else one that is not done at once may wait for: most need no timer.
        interruption: Option<Waiting<'static, CancellationReason>>,
    },
    /// It was dropped, because its client has to answer something first; that is being put into words.
    Asking(Waiting<'static, Outcome>),
    /// It has ended or moved on.
    Over,
}

/// The handler's future with all that belongs to it, wherever it moves.
struct Work {
    handler: HandlerFuture,
    token: CancellationToken,
    outbox: Option<Arc<Outbox>>,
    deadline: Instant,
    answerer: Answerer,
    /// The rounds it is one of, if it may ask.
    rounds: Option<Box<Rounds>>,
    span: Span,
    shared: Arc<Shared>,
    _place: WorkGuard,
}

/// What a call came to.
pub(crate) enum Outcome {
    /// One message.
    Answer(Answer),
    /// A stream of messages, the last of which is the answer.
    Stream(CallStream),
}

/// What happens next to a handler within its response.
enum Step {
    Ended(End),
    Asks,
    Speaks(Arc<Outbox>),
    Failed(CancellationReason),
}

impl Call {
    pub(super) fn new(
        handler: HandlerFuture,
        (token, outbox): (CancellationToken, Option<Arc<Outbox>>),
        deadline: Instant,
        answerer: Answerer,
        rounds: Option<Box<Rounds>>,
        shared: Arc<Shared>,
        place: WorkGuard,
    ) -> Self {
        let span = Span::current();
        let work = Work { handler, token, outbox, deadline, answerer, rounds, span, shared, _place: place };
        Self(State::Running { work, interruption: None })
    }

    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        let State::Running { work, interruption } = &mut self.0 else {
            return Poll::Pending;
        };
        match (work.poll(cx), &work.outbox) {
            (Poll::Ready(end), _) => return Poll::Ready(Step::Ended(end)),
            (Poll::Pending, _) if work.asks(cx) => return Poll::Ready(Step::Asks),
            (Poll::Pending, Some(outbox)) if outbox.poll_ready(cx).is_ready() => {
                return Poll::Ready(Step::Speaks(Arc::clone(outbox)));
            }
            (Poll::Pending, _) => {}
        }
        let interruption = interruption.get_or_insert_with(|| {
            let (shared, deadline) = (Arc::clone(&work.shared), work.deadline);
            Box::pin(interrupted(shared, deadline))
        });
        interruption.as_mut().poll(cx).map(Step::Failed)
    }
}

impl Future for Call {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        if let State::Asking(asking) = &mut self.0 {
            return asking.as_mut().poll(cx);
        }
        let step = ready!(self.poll_step(cx));
        let State::Running { work, .. } = std::mem::replace(&mut self.0, State::Over) else {
            return Poll::Pending;
        };
        Poll::Ready(match step {
            Step::Ended(end) => work.ended(end),
            Step::Asks => {
                let mut asking = Box::pin(work.ask_client());
                let asked = asking.as_mut().poll(cx);
                self.0 = State::Asking(asking);
                return asked;
            }
            Step::Speaks(outbox) => Outcome::Stream(work.stream(outbox)),
            Step::Failed(reason) => {
                let answer = work.fail(reason);
                tokio::spawn(work.linger());
                Outcome::Answer(answer)
            }
        })
    }
}

/// Waits until a handler has had its time, or the server's patience ends.
async fn interrupted(shared: Arc<Shared>, deadline: Instant) -> CancellationReason {
    tokio::select! {
        biased;
        () = sleep_until(deadline) => CancellationReason::DeadlineExceeded,
        () = shared.lifecycle.reached(Phase::Cancelling) => CancellationReason::ShuttingDown,
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let State::Running { work, .. } = std::mem::replace(&mut self.0, State::Over) else { return };
        work.token.cancel(CancellationReason::ClientDisconnected);
        // Without a runtime there is nothing to move to, and nothing the handler could wait for.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(work.linger());
        }
    }
}

impl Work {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        let _entered = self.span.enter();
        poll_caught(self.handler.as_mut(), cx)
    }

    /// Whether the handler can't go on before its client has answered something.
    fn asks(&self, cx: &mut Context<'_>) -> bool {
        self.rounds.as_ref().is_some_and(|rounds| rounds.asking.poll_suspended(cx).is_ready())
    }

    /// The answer of a handler that ended within its response.
    fn ended(self, end: End) -> Outcome {
        self.token.close();
        let answer = self.answer(end);
        Self::answered(answer, self.outbox)
    }

    fn answer(&self, end: End) -> Answer {
        self.answerer.answer(end, self.rounds.as_ref().is_some_and(|rounds| rounds.retried))
    }

    /// Drops the handler, and says what its client has to answer first.
    async fn ask_client(self) -> Outcome {
        let (answer, outbox) = self.question().await;
        Self::answered(answer, outbox)
    }

    /// The same, with what was said before it.
    async fn question(self) -> (Answer, Option<Arc<Outbox>>) {
        let Self { handler, token, outbox, deadline, answerer, rounds, shared, .. } = self;
        token.close();
        if let Err(Panic(message)) = caught(|| drop(handler)) {
            tracing::error!(handler = %answerer.handler, panic = message, "a handler panicked while it was dropped");
        }
        let answer = match rounds {
            Some(rounds) => rounds.answer(&shared, &answerer, deadline).await,
            None => answerer.internal(),
        };
        (answer, outbox)
    }

    /// Joins an answer to what was said before it.
    fn answered(answer: Answer, outbox: Option<Arc<Outbox>>) -> Outcome {
        match outbox {
            Some(outbox) if !outbox.is_empty() => {
                outbox.finish(|out| out.extend_from_slice(&answer.message));
                Outcome::Stream(CallStream { outbox, token: None })
            }
            outbox => {
                if let Some(outbox) = outbox {
                    outbox.close();
                }
                Outcome::Answer(answer)
            }
        }
    }

    /// Moves to a task of its own; what it says, and its answer, come through the stream.
    fn stream(self, outbox: Arc<Outbox>) -> CallStream {
        let token = (!self.outlives_client(&outbox)).then(|| self.token.clone());
        let stream = CallStream { outbox: Arc::clone(&outbox), token };
        tokio::spawn(self.feed(outbox));
        stream
    }

    /// Whether the handler goes on when nobody reads its stream any more. Over HTTP an older revision does not take a
    /// disconnect for a cancellation (specification of 2025-11-25: `basic/transports`).
    fn outlives_client(&self, outbox: &Outbox) -> bool {
        !self.answerer.wire.revision().is_modern() && outbox.framing() == Framing::SSE
    }

    /// Signals the handler, and makes the answer that its client gets instead.
    fn fail(&self, reason: CancellationReason) -> Answer {
        if reason == CancellationReason::ShuttingDown {
            self.shared.lifecycle.count_cancelled();
        }
        self.token.cancel(reason);
        self.answerer.refuse(failure(reason))
    }

    /// Runs the handler for a stream, until it ends or must end.
    async fn feed(mut self, outbox: Arc<Outbox>) {
        let shared = Arc::clone(&self.shared);
        let (token, write_timeout) = (self.token.clone(), shared.limits.write_timeout);
        let outlives_client = self.outlives_client(&outbox);
        let mut deadline = pin!(sleep_until(self.deadline));
        let mut stopping = pin!(shared.lifecycle.reached(Phase::Cancelling));
        let mut gone = pin!(token.cancelled());
        let mut probe = pin!(sleep(write_timeout));
        let step = poll_fn(|cx| {
            if let Poll::Ready(end) = self.poll(cx) {
                return Poll::Ready(Step::Ended(end));
            }
            if self.asks(cx) {
                return Poll::Ready(Step::Asks);
            }
            if let Poll::Ready(reason) = gone.as_mut().poll(cx) {
                return Poll::Ready(Step::Failed(reason));
            }
            if deadline.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Step::Failed(CancellationReason::DeadlineExceeded));
            }
            if stopping.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Step::Failed(CancellationReason::ShuttingDown));
            }
            while probe.as_mut().poll(cx).is_ready() {
                let unread = outbox.unread_for();
                if unread >= write_timeout && outlives_client {
                    outbox.abandon();
                } else if unread >= write_timeout {
                    return Poll::Ready(Step::Failed(CancellationReason::WriteStalled));
                }
                probe.as_mut().reset(Instant::now() + write_timeout.saturating_sub(unread));
            }
            Poll::Pending
        })
        .await;
        match step {
            Step::Ended(end) => {
                self.token.close();
                let answer = self.answer(end);
                outbox.finish(|out| out.extend_from_slice(&answer.message));
            }
            Step::Failed(reason) => {
                let answer = self.fail(reason);
                outbox.finish(|out| out.extend_from_slice(&answer.message));
                self.linger().await;
            }
            Step::Asks => {
                let (answer, _) = self.question().await;
                outbox.finish(|out| out.extend_from_slice(&answer.message));
            }
            Step::Speaks(_) => {}
        }
    }

    /// Lets a cancelled handler end: until the grace is over, or the server is.
    async fn linger(mut self) {
        // What it still reports has no effect, and must not wait for a reader.
        if let Some(outbox) = &self.outbox {
            outbox.close();
        }
        let shared = Arc::clone(&self.shared);
        let mut stopped = pin!(shared.lifecycle.reached(Phase::Stopped));
        let grace = shared.limits.cancellation_grace;
        // A timer that is never polled costs nothing.
        let mut over = pin!(sleep(grace.unwrap_or_default()));
        let ended = poll_fn(|cx| {
            if let Poll::Ready(end) = self.poll(cx) {
                return Poll::Ready(Some(end));
            }
            // Nobody is there to answer it: it would wait for ever.
            if self.asks(cx) {
                return Poll::Ready(None);
            }
            if grace.is_some() && over.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            stopped.as_mut().poll(cx).map(|()| None)
        })
        .await;
        match ended {
            Some(Err(Panic(message))) => {
                tracing::error!(handler = %self.answerer.handler, panic = message, "a cancelled handler panicked");
            }
            Some(Ok(_)) => {
                tracing::debug!(handler = %self.answerer.handler, "a cancelled handler ended; its result is discarded")
            }
            None => {
                shared.lifecycle.count_dropped();
                tracing::debug!(handler = %self.answerer.handler, "a cancelled handler was dropped");
            }
        }
    }
}

/// The stream of a call that has something to say before its answer. Dropping it is how a client goes away.
pub(crate) struct CallStream {
    outbox: Arc<Outbox>,
    /// What is signalled then; nothing, if the handler has ended or goes on.
    token: Option<CancellationToken>,
}

impl CallStream {
    /// All frames that are ready, or the end.
    pub(crate) fn poll_chunk(&self, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        self.outbox.poll_chunk(cx)
    }

    /// Whether the last chunk has been taken.
    pub(crate) fn is_finished(&self) -> bool {
        self.outbox.is_finished()
    }
}

impl Drop for CallStream {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            // No effect on a handler that has ended.
            token.cancel(CancellationReason::ClientDisconnected);
        }
        self.outbox.abandon();
    }
}

/// The error of a request whose handler was cancelled.
fn failure(reason: CancellationReason) -> ProtocolError {
    let condition = match reason {
        CancellationReason::DeadlineExceeded => Condition::Deadline,
        CancellationReason::ShuttingDown => Condition::Overloaded,
        _ => Condition::Internal,
    };
    ProtocolError::new(condition, reason.to_string())
}
