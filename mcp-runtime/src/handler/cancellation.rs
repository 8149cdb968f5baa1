//! Cooperative cancellation: a token with a reason.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use tokio::sync::Notify;

/// Why an invocation was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CancellationReason {
    /// The client closed the response, or the connection under it.
    ClientDisconnected,
    /// The client sent `notifications/cancelled` (stdio).
    ClientCancelled,
    /// The request's absolute deadline passed.
    DeadlineExceeded,
    /// The server stops, and the graceful time is over.
    ShuttingDown,
    /// The client did not read its stream for the write timeout.
    WriteStalled,
    /// The framework could not go on with the request.
    InternalError,
}

impl CancellationReason {
    /// A short name for logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClientDisconnected => "client_disconnected",
            Self::ClientCancelled => "client_cancelled",
            Self::DeadlineExceeded => "deadline_exceeded",
            Self::ShuttingDown => "shutting_down",
            Self::WriteStalled => "write_stalled",
            Self::InternalError => "internal_error",
        }
    }
}

impl fmt::Display for CancellationReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClientDisconnected => "the client disconnected",
            Self::ClientCancelled => "the client cancelled the request",
            Self::DeadlineExceeded => "the request's deadline passed",
            Self::ShuttingDown => "the server is shutting down",
            Self::WriteStalled => "the client stopped reading",
            Self::InternalError => "the server failed",
        })
    }
}

/// The error of [`CancellationToken::check`]: ends a handler with `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled {
    /// Why.
    pub reason: CancellationReason,
}

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cancelled: {}", self.reason)
    }
}

impl std::error::Error for Cancelled {}

/// Tells a handler that nobody waits for its answer any more.
///
/// Every handler may take one, free or async. It is signalled when the client goes away, when the deadline
/// passes, or when shutdown runs out of patience; never by a normal end, and never by the mere beginning of a
/// graceful shutdown. Cancellation is cooperative: after the signal an `async` handler is dropped at its next
/// `.await` once `cancellation_grace` is over; blocking code has to look.
///
/// Clones share one state. What it does not do is roll anything back: a retry is a new invocation.
#[derive(Clone)]
pub struct CancellationToken(Arc<Inner>);

struct Inner {
    reason: OnceLock<CancellationReason>,
    changed: Notify,
    callbacks: Mutex<Callbacks>,
}

type Callback = Box<dyn FnOnce(CancellationReason) + Send>;

#[derive(Default)]
struct Callbacks {
    next: u64,
    /// The invocation ended: nothing registered from now on can ever run.
    closed: bool,
    waiting: Vec<(u64, Callback)>,
}

impl CancellationToken {
    /// A token that nothing has signalled, for tests of a handler.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Inner { reason: OnceLock::new(), changed: Notify::new(), callbacks: Mutex::default() }))
    }

    /// Whether it has been signalled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.reason().is_some()
    }

    /// Why, once it has been signalled. The first signal wins.
    #[must_use]
    pub fn reason(&self) -> Option<CancellationReason> {
        self.0.reason.get().copied()
    }

    /// Ends the handler with `?` if it was cancelled: for use between steps.
    ///
    /// # Errors
    /// [`Cancelled`] with its reason, once the token has been signalled.
    pub fn check(&self) -> Result<(), Cancelled> {
        match self.reason() {
            None => Ok(()),
            Some(reason) => Err(Cancelled { reason }),
        }
    }

    /// Waits for the signal; for `tokio::select!`.
    pub async fn cancelled(&self) -> CancellationReason {
        loop {
            let mut changed = std::pin::pin!(self.0.changed.notified());
            changed.as_mut().enable();
            if let Some(reason) = self.reason() {
                return reason;
            }
            changed.await;
        }
    }

    /// Runs `callback` at the signal, on the thread that signals: keep it prompt.
    ///
    /// Dropping the registration before that removes the callback. On a token that was signalled already it runs
    /// at once. If the handler ends normally it never runs. A panic in it is caught and logged.
    pub fn on_cancel(&self, callback: impl FnOnce(CancellationReason) + Send + 'static) -> CancelCallback {
        let mut callbacks = self.callbacks();
        // Asked under the lock, so that a signal either sees the callback or is seen here.
        if let Some(reason) = self.reason() {
            drop(callbacks);
            run(Box::new(callback), reason);
            return CancelCallback { token: self.clone(), key: None };
        }
        if callbacks.closed {
            return CancelCallback { token: self.clone(), key: None };
        }
        let key = callbacks.next;
        callbacks.next += 1;
        callbacks.waiting.push((key, Box::new(callback)));
        CancelCallback { token: self.clone(), key: Some(key) }
    }

    /// Signals the token; the first reason stays. Returns whether this call did it.
    pub fn cancel(&self, reason: CancellationReason) -> bool {
        let waiting = {
            let mut callbacks = self.callbacks();
            if callbacks.closed || self.0.reason.set(reason).is_err() {
                return false;
            }
            std::mem::take(&mut callbacks.waiting)
        };
        self.0.changed.notify_waiters();
        for (_, callback) in waiting {
            run(callback, reason);
        }
        true
    }

    /// The invocation ended normally: callbacks are discarded and no later signal has an effect.
    pub(crate) fn close(&self) {
        let discarded = {
            let mut callbacks = self.callbacks();
            callbacks.closed = true;
            std::mem::take(&mut callbacks.waiting)
        };
        drop(discarded);
    }

    fn callbacks(&self) -> std::sync::MutexGuard<'_, Callbacks> {
        self.0.callbacks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(callback: Callback, reason: CancellationReason) {
    if catch_unwind(AssertUnwindSafe(|| callback(reason))).is_err() {
        tracing::error!(reason = reason.as_str(), "a cancellation callback panicked");
    }
}

impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken").field("reason", &self.reason()).finish_non_exhaustive()
    }
}

/// A registered callback; dropping it removes the callback if it has not begun to run.
#[must_use = "dropping the registration removes the callback"]
pub struct CancelCallback {
    token: CancellationToken,
    key: Option<u64>,
}

impl CancelCallback {
    /// Leaves the callback registered for the rest of the invocation.
    pub fn detach(mut self) {
        self.key = None;
    }
}

impl fmt::Debug for CancelCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelCallback").finish_non_exhaustive()
    }
}

impl Drop for CancelCallback {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        let removed = {
            let mut callbacks = self.token.callbacks();
            let at = callbacks.waiting.iter().position(|(waiting, _)| *waiting == key);
            at.map(|at| callbacks.waiting.remove(at))
        };
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;

    fn counter() -> (Arc<AtomicUsize>, impl Fn(CancellationReason) + Clone) {
        let count = Arc::new(AtomicUsize::new(0));
        let seen = count.clone();
        (count, move |_| {
            seen.fetch_add(1, SeqCst);
        })
    }

    #[test]
    fn the_first_reason_stays() {
        let token = CancellationToken::new();
        assert_eq!(token.check(), Ok(()));
        assert!(token.cancel(CancellationReason::DeadlineExceeded));
        assert!(!token.cancel(CancellationReason::ShuttingDown));
        assert_eq!(token.check(), Err(Cancelled { reason: CancellationReason::DeadlineExceeded }));
    }

    #[test]
    fn callbacks_run_once_and_a_dropped_registration_does_not() {
        let token = CancellationToken::new();
        let (count, callback) = counter();
        let _first = token.on_cancel(callback.clone());
        let _equal = token.on_cancel(callback.clone());
        drop(token.on_cancel(callback.clone()));
        token.on_cancel(callback).detach();
        token.cancel(CancellationReason::ClientDisconnected);
        token.cancel(CancellationReason::ClientDisconnected);
        assert_eq!(count.load(SeqCst), 3);
    }

    #[test]
    fn a_late_registration_runs_at_once() {
        let token = CancellationToken::new();
        token.cancel(CancellationReason::ShuttingDown);
        let (count, callback) = counter();
        let _late = token.on_cancel(callback);
        assert_eq!(count.load(SeqCst), 1);
    }

    #[test]
    fn a_normal_end_discards_callbacks_and_is_no_cancellation() {
        let token = CancellationToken::new();
        let (count, callback) = counter();
        let _kept = token.on_cancel(callback.clone());
        token.close();
        assert!(!token.cancel(CancellationReason::ShuttingDown));
        let _late = token.on_cancel(callback);
        assert_eq!(count.load(SeqCst), 0);
        assert!(!token.is_cancelled());
        assert_eq!(Arc::strong_count(&count), 1, "the callbacks' captures are freed");
    }

    #[test]
    fn a_panicking_callback_does_not_stop_the_others() {
        let token = CancellationToken::new();
        let (count, callback) = counter();
        let _bad = token.on_cancel(|_| panic!("no"));
        let _good = token.on_cancel(callback);
        token.cancel(CancellationReason::InternalError);
        assert_eq!(count.load(SeqCst), 1);
    }

    #[tokio::test]
    async fn waiters_wake() {
        let token = CancellationToken::new();
        let waiting = tokio::spawn({
            let token = token.clone();
            async move { token.cancelled().await }
        });
        tokio::task::yield_now().await;
        token.cancel(CancellationReason::ClientCancelled);
        assert_eq!(waiting.await.unwrap(), CancellationReason::ClientCancelled);
        assert_eq!(token.cancelled().await, CancellationReason::ClientCancelled);
    }
}
