//! The queue of what an invocation says before its answer: progress and log notifications.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::time::Instant;

/// How one message is wrapped on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    before: &'static [u8],
    after: &'static [u8],
}

impl Framing {
    /// One server-sent event a message.
    pub const SSE: Self = Self { before: b"data: ", after: b"\n\n" };
    /// One line a message.
    pub const LINES: Self = Self { before: b"", after: b"\n" };

    /// Appends a message, written by `message`, with its frame.
    pub fn write(self, out: &mut Vec<u8>, message: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(self.before);
        let start = out.len();
        message(out);
        // A line break would end the frame. In JSON it only stands between tokens, where a space is as good.
        for byte in &mut out[start..] {
            *byte = if matches!(*byte, b'\n' | b'\r') { b' ' } else { *byte };
        }
        out.extend_from_slice(self.after);
    }

    /// Whether there is room for comments between the messages.
    #[must_use]
    pub fn has_comments(self) -> bool {
        self == Self::SSE
    }

    /// Appends a comment, which keeps the connection alive and says nothing.
    pub fn write_comment(self, out: &mut Vec<u8>) {
        if self.has_comments() {
            out.extend_from_slice(b":\n\n");
        }
    }
}

/// Whole frames, one behind the other, in the order in which they were accepted.
///
/// Bounded by a number of frames, and of bytes: a writer that finds no room waits. The reader takes everything that is there at
/// once, so that a burst becomes one chunk of the response.
#[derive(Debug)]
pub struct Outbox {
    framing: Framing,
    capacity: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    frames: usize,
    bytes: Vec<u8>,
    /// Nothing more is accepted: the invocation has ended, or nobody will read.
    closed: bool,
    /// When the oldest unread frame was written.
    unread_since: Option<Instant>,
    reader: Option<Waker>,
    writers: Vec<Waker>,
    /// The highest progress accepted so far.
    progress: Option<f64>,
}

impl State {
    fn added(&mut self) {
        self.frames += 1;
        self.unread_since.get_or_insert_with(Instant::now);
    }
}

/// What became of a frame offered to an [`Outbox`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer<R> {
    /// It was queued.
    Accepted,
    /// The invocation has ended or was cancelled: no effect.
    Inert,
    /// `decide` did not want it written.
    Declined(R),
}

/// How a writer decides under the lock whether its frame is still wanted.
pub(super) enum Decision<R> {
    Write,
    Decline(R),
}

impl Outbox {
    /// With so many bytes queued a writer waits, however few frames they are.
    const MANY_BYTES: usize = 256 << 10;
    /// The most room that is kept for the next burst.
    const KEPT_BYTES: usize = 16 << 10;

    /// An empty queue of at most `capacity` frames (at least one).
    #[must_use]
    pub fn new(framing: Framing, capacity: usize) -> Self {
        Self { framing, capacity: capacity.max(1), state: Mutex::default() }
    }

    /// How its frames are wrapped.
    #[must_use]
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Offers one frame. `decide` may look at and set the last progress; `write` writes the message.
    /// Pending means that there is no room yet.
    pub(super) fn poll_offer<R>(
        &self,
        cx: &mut Context<'_>,
        decide: impl FnOnce(&mut Option<f64>) -> Decision<R>,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Poll<Offer<R>> {
        let mut guard = self.lock();
        let state = &mut *guard;
        if state.closed {
            return Poll::Ready(Offer::Inert);
        }
        if state.frames >= self.capacity || state.bytes.len() >= Self::MANY_BYTES {
            if !state.writers.iter().any(|waiting| waiting.will_wake(cx.waker())) {
                state.writers.push(cx.waker().clone());
            }
            return Poll::Pending;
        }
        if let Decision::Decline(reason) = decide(&mut state.progress) {
            return Poll::Ready(Offer::Declined(reason));
        }
        self.framing.write(&mut state.bytes, write);
        state.added();
        let reader = state.reader.take();
        drop(guard);
        if let Some(reader) = reader {
            reader.wake();
        }
        Poll::Ready(Offer::Accepted)
    }

    /// Adds the last message, for which there is always room, and accepts nothing after it.
    pub fn finish(&self, message: impl FnOnce(&mut Vec<u8>)) {
        let mut guard = self.lock();
        if !guard.closed {
            let state = &mut *guard;
            self.framing.write(&mut state.bytes, message);
            state.added();
        }
        Self::end(guard);
    }

    /// Ready as soon as a frame is queued, or nothing more can come.
    pub fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.frames > 0 || state.closed {
            return Poll::Ready(());
        }
        match &state.reader {
            Some(reader) if reader.will_wake(cx.waker()) => {}
            _ => state.reader = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// All frames that are queued; `None` when there are none and will be none.
    pub fn poll_chunk(&self, cx: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        std::task::ready!(self.poll_ready(cx));
        let chunk = self.take();
        Poll::Ready((!chunk.is_empty()).then_some(chunk))
    }

    /// Takes all queued frames and makes room; empty if there is none.
    #[must_use]
    pub fn take(&self) -> Vec<u8> {
        let mut state = self.lock();
        if state.frames == 0 {
            return Vec::new();
        }
        state.frames = 0;
        state.unread_since = None;
        // The next burst is likely to be as large as this one, if there is one.
        let room = if state.closed { 0 } else { state.bytes.len().min(Self::KEPT_BYTES) };
        let room = Vec::with_capacity(room);
        let taken = std::mem::replace(&mut state.bytes, room);
        let writers = std::mem::take(&mut state.writers);
        drop(state);
        writers.into_iter().for_each(Waker::wake);
        taken
    }

    /// Whether any frame waits to be taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().frames == 0
    }

    /// Whether all has been taken and nothing more can come.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let state = self.lock();
        state.closed && state.frames == 0
    }

    /// For how long the oldest queued frame has not been taken.
    #[must_use]
    pub fn unread_for(&self) -> Duration {
        self.lock().unread_since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Makes every later write inert. Frames that were accepted stay to be taken.
    pub fn close(&self) {
        Self::end(self.lock());
    }

    /// [`close`](Self::close), and what nobody has taken is dropped: there is no reader any more.
    pub fn abandon(&self) {
        self.close();
        drop(self.take());
    }

    fn end(mut state: MutexGuard<'_, State>) {
        state.closed = true;
        let writers = std::mem::take(&mut state.writers);
        let reader = state.reader.take();
        drop(state);
        writers.into_iter().chain(reader).for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
