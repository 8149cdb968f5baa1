//! What goes on on one connection, for those who decide whether it goes on.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use super::relay::Handover;

/// The requests of a connection, and what keeps their answers from being sent.
#[derive(Debug)]
pub(super) struct Activity {
    opened: Instant,
    requests: AtomicUsize,
    /// When the last request ended, in microseconds since the connection was opened.
    idle_since: AtomicU64,
    /// The peer does not read: a write is pending.
    blocked: AtomicBool,
    unread: Mutex<Unread>,
    /// A stream that is to have the connection to itself.
    pub(super) handover: Handover,
}

/// Finished answers that were not taken to the end yet: on HTTP/2 the peer decides when.
#[derive(Debug, Default)]
struct Unread {
    answers: usize,
    /// When something of one was taken last, or the first one came.
    since: Option<Instant>,
}

impl Default for Activity {
    fn default() -> Self {
        Self {
            opened: Instant::now(),
            requests: AtomicUsize::new(0),
            idle_since: AtomicU64::new(0),
            blocked: AtomicBool::new(false),
            unread: Mutex::default(),
            handover: Handover::default(),
        }
    }
}

impl Activity {
    /// A request is there, until its ticket is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Ticket {
        self.requests.fetch_add(1, Relaxed);
        Ticket { activity: Arc::clone(self), unread: false }
    }

    pub(super) fn set_blocked(&self, blocked: bool) {
        self.blocked.store(blocked, Relaxed);
    }

    /// Whether something that was to be sent waits for the peer to read.
    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.load(Relaxed)
    }

    /// Whether nothing is being answered or sent.
    fn is_idle(&self) -> bool {
        self.requests.load(Relaxed) == 0 && !self.blocked.load(Relaxed)
    }

    /// Waits until the connection is idle, and a moment longer: what the peer has begun to send may take its time.
    pub(super) async fn idle(&self, moment: Duration) {
        loop {
            tokio::time::sleep(moment).await;
            if self.is_idle() {
                return;
            }
        }
    }

    /// Waits until no request has been there for `timeout`: the peer sends nothing, or its next head too slowly.
    ///
    /// One timer does for all requests of a connection; it looks again when it is due.
    pub(super) async fn silent(&self, timeout: Duration) {
        loop {
            let busy = self.requests.load(Relaxed) > 0 || self.blocked.load(Relaxed);
            let since = self.opened + Duration::from_micros(self.idle_since.load(Relaxed));
            let due = if busy { Instant::now() + timeout } else { since + timeout };
            if !busy && due <= Instant::now() {
                return;
            }
            sleep_until(due).await;
        }
    }

    /// Waits until finished answers have waited for `timeout` without anything of any of them being taken.
    #[cfg(any(test, feature = "http2"))]
    pub(super) async fn stalled(&self, timeout: Duration) {
        loop {
            let since = self.unread().since;
            let due = since.unwrap_or_else(Instant::now) + timeout;
            if since.is_some() && due <= Instant::now() {
                return;
            }
            sleep_until(due).await;
        }
    }

    fn unread(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request of a connection: from its beginning until its answer is handed over.
#[derive(Debug)]
pub(super) struct Ticket {
    activity: Arc<Activity>,
    unread: bool,
}

impl Ticket {
    #[cfg(any(test, feature = "http2"))]
    /// The answer is there, and nobody has taken it yet.
    pub(super) fn answered(&mut self) {
        let mut unread = self.activity.unread();
        unread.answers += 1;
        unread.since.get_or_insert_with(Instant::now);
        self.unread = true;
    }

    /// A part of the answer is being taken.
    pub(super) fn partly_taken(&self) {
        if self.unread {
            self.activity.unread().since = Some(Instant::now());
        }
    }

    /// The rest of the answer is being taken.
    pub(super) fn taken(&mut self) {
        if std::mem::take(&mut self.unread) {
            let mut unread = self.activity.unread();
            unread.answers -= 1;
            unread.since = (unread.answers > 0).then(Instant::now);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.taken();
        let activity = &self.activity;
        let micros = u64::try_from(activity.opened.elapsed().as_micros()).unwrap_or(u64::MAX);
        activity.idle_since.store(micros, Relaxed);
        activity.requests.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn answers_that_nobody_takes_stall_a_connection_and_those_that_are_taken_do_not() {
        let activity = Arc::new(Activity::default());
        let (mut first, mut second) = (activity.begin(), activity.begin());
        let stalled = tokio::spawn({
            let activity = Arc::clone(&activity);
            async move { activity.stalled(TIMEOUT).await }
        });
        tokio::time::sleep(4 * TIMEOUT).await;
        assert!(!stalled.is_finished(), "nothing is waiting to be taken");
        first.answered();
        second.answered();
        let began = Instant::now();
        tokio::time::sleep(TIMEOUT / 2).await;
        first.taken();
        stalled.await.unwrap();
        assert!(began.elapsed() >= TIMEOUT / 2 + TIMEOUT, "{:?}", began.elapsed());
        drop(second);
        assert!(activity.unread().since.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_is_noticed_a_timeout_after_its_last_request() {
        let activity = Arc::new(Activity::default());
        let (began, request) = (Instant::now(), activity.begin());
        let silent = tokio::spawn({
            let activity = Arc::clone(&activity);
            async move { activity.silent(TIMEOUT).await }
        });
        tokio::time::sleep(3 * TIMEOUT + TIMEOUT / 2).await;
        drop(request);
        silent.await.unwrap();
        assert_eq!(began.elapsed(), 4 * TIMEOUT + TIMEOUT / 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_without_requests_and_pending_writes() {
        let activity = Arc::new(Activity::default());
        let request = activity.begin();
        activity.set_blocked(true);
        let idle = tokio::spawn({
            let activity = Arc::clone(&activity);
            async move { activity.idle(Duration::from_secs(1)).await }
        });
        tokio::time::sleep(TIMEOUT).await;
        drop(request);
        tokio::time::sleep(TIMEOUT).await;
        assert!(!idle.is_finished(), "a write is pending");
        activity.set_blocked(false);
        idle.await.unwrap();
    }
}
