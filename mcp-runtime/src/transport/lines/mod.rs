//! One message a line, over any byte stream (specification: `transports/stdio`).
//!
//! The lines are read in their order; each request then runs on a task of its own. Everything that is to be sent goes
//! through one queue, as whole lines.

mod in_flight;
mod input;
mod opening;
mod output;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    future::{pending, poll_fn},
    io,
    pin::pin,
    sync::Arc,
    task::Poll,
};

use http::Extensions;
use serde::de::IgnoredAny;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{mpsc, watch},
    task::{JoinSet, yield_now},
    time::Instant,
};

use self::{
    in_flight::{InFlight, Ticket},
    input::{Line, Lines},
    opening::Opening,
    output::Outgoing,
};
use crate::{
    engine::{Answer, Channel, Conversation, Engine, Incoming, Live, Phase, Reply},
    handler::{CancellationReason, CancellationToken, Framing},
    protocol::{Condition, Envelope, ProtocolError, RequestId, write_cancelled},
    subscription::{EndReason, Subscription},
};

/// How many pieces of output wait to be written before those who have more to say wait, too.
const QUEUE: usize = 16;

/// Serves one connection: until its input ends or the server drains, and then until all that was asked is answered.
///
/// `at_end` is called when nothing more will be read.
///
/// # Errors
/// If the stream breaks, or takes nothing for `write_timeout`. What was running is cancelled then.
pub(crate) async fn serve<R, W>(live: &Live, input: R, output: W, at_end: impl FnOnce()) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let engine = live.now();
    let (limits, lifecycle) = (&engine.shared.limits, &engine.shared.lifecycle);
    let (outgoing, queue) = mpsc::channel(QUEUE);
    let reading = watch::Sender::new(true);
    let mut session = Session {
        live,
        outgoing,
        in_flight: Arc::default(),
        opening: Arc::default(),
        conversation: Arc::default(),
        tasks: JoinSet::new(),
        reading,
    };
    let mut writing = pin!(output::write(output, queue, limits.write_timeout));
    let mut stopped = pin!(lifecycle.reached(Phase::Stopped));
    // Kept to the end: a client whose input closes might not wait for its answers.
    let mut lines = Lines::new(input, limits.max_body_bytes);
    tokio::select! {
        read = session.read(&mut lines) => read?,
        written = &mut writing => return session.abandon(written),
    }
    at_end();
    // Whoever closes the input expects answers, and no more news.
    session.reading.send_replace(false);
    tokio::select! {
        biased;
        written = &mut writing => return session.abandon(written),
        () = session.drain() => {}
        () = &mut stopped => {}
    }
    // With the last sender the queue ends, behind the last answer.
    drop(session);
    tokio::select! {
        biased;
        written = &mut writing => written,
        () = &mut stopped => {
            lifecycle.count_closed_connection();
            Ok(())
        }
    }
}

/// The requests of one connection. Dropping it is how its client goes away.
struct Session<'e> {
    live: &'e Live,
    in_flight: Arc<InFlight>,
    opening: Arc<Opening>,
    conversation: Arc<Conversation>,
    tasks: JoinSet<()>,
    outgoing: mpsc::Sender<Outgoing>,
    /// Whether the input may bring more.
    reading: watch::Sender<bool>,
}

impl Session<'_> {
    /// Reads until the input ends or the server drains.
    async fn read<R: AsyncRead + Unpin>(&mut self, lines: &mut Lines<R>) -> io::Result<()> {
        let engine = self.live.now();
        let limits = &engine.shared.limits;
        let most = limits.max_concurrent_handlers.saturating_add(limits.handler_queue);
        let (starting, mut started) = mpsc::channel(1);
        let mut draining = pin!(engine.shared.lifecycle.reached(Phase::Draining));
        loop {
            let line = tokio::select! {
                biased;
                () = &mut draining => return Ok(()),
                Some(_) = self.tasks.join_next() => continue,
                // A client with so many requests in flight is not read until one of them is answered.
                line = lines.next(), if self.tasks.len() < most => line?,
            };
            match line {
                Some(line) => self.begin(line, starting.clone()).await,
                None => break,
            }
        }
        // The end of the input may be the end of the server, which would refuse what it has not begun.
        drop(starting);
        tokio::select! {
            _ = started.recv() => {}
            () = &mut draining => {}
        }
        Ok(())
    }

    /// Takes a line in its turn: a request is in flight before the next line is read, which may cancel it.
    async fn begin(&mut self, line: Line, starting: mpsc::Sender<Infallible>) {
        let exchange = Exchange {
            engine: self.live.now(),
            token: CancellationToken::new(),
            in_flight: Arc::clone(&self.in_flight),
            opening: Arc::clone(&self.opening),
            conversation: Arc::clone(&self.conversation),
            outgoing: self.outgoing.clone(),
            reading: self.reading.subscribe(),
        };
        let mut exchange = Box::pin(exchange.run(line, starting));
        if poll_fn(|cx| Poll::Ready(exchange.as_mut().poll(cx))).await.is_pending() {
            self.tasks.spawn(exchange);
        }
    }

    /// Waits until every request is answered.
    async fn drain(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    /// Nothing can be written any more: there is nobody to work for.
    fn abandon(self, written: io::Result<()>) -> io::Result<()> {
        if matches!(&written, Err(error) if error.kind() == io::ErrorKind::TimedOut) {
            self.in_flight.cancel_all(CancellationReason::WriteStalled);
        }
        written
    }
}

/// One message from the client, and what it is answered with.
struct Exchange {
    engine: Arc<Engine>,
    token: CancellationToken,
    in_flight: Arc<InFlight>,
    opening: Arc<Opening>,
    conversation: Arc<Conversation>,
    outgoing: mpsc::Sender<Outgoing>,
    reading: watch::Receiver<bool>,
}

impl Exchange {
    /// Its first poll takes the message in and is prompt.
    async fn run(self, line: Line, starting: mpsc::Sender<Infallible>) {
        let arrived = Instant::now();
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong { limit } => {
                let message = format!("the message is longer than {limit} bytes");
                return self.refuse(&ProtocolError::new(Condition::TooLarge, message), None).await;
            }
        };
        let envelope = match Envelope::parse(&line) {
            Ok(envelope) => envelope,
            Err(_) if is_notification(&line) => return,
            Err(error) => {
                let id = error.id.clone();
                return self.refuse(&error.into(), id.as_ref()).await;
            }
        };
        let Some(id) = &envelope.id else { return self.notified(&envelope) };
        let Some(ticket) = self.in_flight.enter(id, &self.token) else {
            let error = ProtocolError::new(Condition::InvalidRequest, "a request with this id is in flight");
            return self.refuse(&error, Some(id)).await;
        };
        let opens = (envelope.method == "initialize").then(|| self.opening.begin());
        // From here on it runs on a task of its own, beside the others.
        yield_now().await;
        if opens.is_none() {
            self.opening.done().await;
        }
        let incoming = Incoming {
            body: &line,
            arrived,
            token: self.token.clone(),
            channel: Channel::Lines {
                extensions: Extensions::new(),
                conversation: Arc::clone(&self.conversation),
            },
        };
        let answered = async {
            let reply = begun(self.engine.handle_parsed(&envelope, incoming), starting).await;
            drop(opens);
            self.send_reply(reply, ticket).await;
        };
        tokio::select! {
            biased;
            () = self.cancelled_by_client() => {}
            () = answered => {}
        }
    }

    /// Of all notifications only one means something here, and none is ever answered.
    fn notified(&self, envelope: &Envelope<'_>) {
        let params = &envelope.params;
        match (&*envelope.method, params.request_id().value()) {
            ("notifications/cancelled", Some(id)) => {
                let reason = params.reason().value().map(|reason| &**reason);
                tracing::debug!(jsonrpc.request.id = %id, reason, "the client cancels a request");
                self.in_flight.cancel(id);
            }
            (method, _) => tracing::debug!(method, "ignored a notification"),
        }
    }

    /// The end of a request for which nothing more may be sent.
    async fn cancelled_by_client(&self) {
        if self.token.cancelled().await != CancellationReason::ClientCancelled {
            // Its client waits for the error that tells it why.
            pending().await
        }
    }

    async fn send_reply(&self, reply: Reply, ticket: Ticket) {
        match reply {
            Reply::Accepted => {}
            Reply::Answer(answer) => self.send(line(&answer), Some(ticket)).await,
            Reply::Stream(stream) => {
                let mut ticket = Some(ticket);
                while let Some(lines) = poll_fn(|cx| stream.poll_chunk(cx)).await {
                    let ended = ticket.take_if(|_| stream.is_finished());
                    self.send(lines, ended).await;
                }
            }
            Reply::Subscription(subscription) => self.send_changes(&subscription, ticket).await,
        }
    }

    /// Sends what a subscription has to say. When the server ends it, its result is followed by the notification that
    /// this channel wants (specification: `basic/patterns/cancellation`).
    async fn send_changes(&self, subscription: &Subscription, ticket: Ticket) {
        let (mut ticket, mut reading) = (Some(ticket), self.reading.clone());
        let mut over = pin!(async { reading.wait_for(|reading| !reading).await.is_ok() });
        let mut ending = false;
        loop {
            let lines = tokio::select! {
                biased;
                lines = poll_fn(|cx| subscription.poll_chunk(cx)) => lines,
                _ = &mut over, if !ending => {
                    ending = true;
                    subscription.end(EndReason::ClientGone);
                    continue;
                }
            };
            let mut lines = match lines {
                Some(lines) => lines,
                // It was given up while the channel was full. That is no end of the channel, so its client is told.
                None if ticket.is_some() => subscription.result(),
                None => return,
            };
            let ended = ticket.take_if(|_| subscription.is_finished());
            if ended.is_some() {
                Framing::LINES.write(&mut lines, |out| write_cancelled(out, subscription.id()));
            }
            self.send(lines, ended).await;
        }
    }

    async fn refuse(&self, error: &ProtocolError, id: Option<&RequestId>) {
        self.send(line(&Answer::error(error, id)), None).await;
    }

    /// Queues whole lines. A request's ticket comes with the last of them: by the time the client can have read
    /// them, its id is free again.
    async fn send(&self, lines: Vec<u8>, ended: Option<Ticket>) {
        // Without the writer there is no client.
        let Ok(room) = self.outgoing.reserve().await else { return };
        drop(ended);
        room.send(Outgoing { token: self.token.clone(), lines });
    }
}

fn line(answer: &Answer) -> Vec<u8> {
    let mut line = Vec::with_capacity(answer.message.len() + 1);
    Framing::LINES.write(&mut line, |out| out.extend_from_slice(&answer.message));
    line
}

/// Whether what is no valid message would be a notification if it were one: those are never answered.
fn is_notification(line: &[u8]) -> bool {
    let members = serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(line);
    members.is_ok_and(|members| members.contains_key("method") && !members.contains_key("id"))
}

/// Drops `starting` after the first poll.
async fn begun<F: Future>(future: F, starting: mpsc::Sender<Infallible>) -> F::Output {
    let (mut future, mut starting) = (pin!(future), Some(starting));
    poll_fn(|cx| {
        let polled = future.as_mut().poll(cx);
        starting = None;
        polled
    })
    .await
}
