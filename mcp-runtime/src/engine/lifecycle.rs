//! The phases of a server's life, as its requests see them.

use std::{
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use tokio::sync::watch;

/// What a server is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// It takes requests.
    Running,
    /// It takes no more; what runs may finish.
    Draining,
    /// What still runs is cancelled.
    Cancelling,
    /// What still runs is dropped.
    Stopped,
}

/// How the work that was running when shutdown began has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Handlers that ran, or waited to, when it began.
    pub running: usize,
    /// Those that were cancelled when the graceful time was over.
    pub cancelled: usize,
    /// Those whose futures were dropped.
    pub dropped: usize,
    /// Those that nothing could stop: blocking functions, and panicking destructors. They may still run. A runtime
    /// that is dropped waits for its blocking functions: to end without them, end the process, or use
    /// `tokio::runtime::Runtime::shutdown_background`.
    pub residual: usize,
    /// Subscriptions that were open when it began.
    pub subscriptions: usize,
    /// Those whose end nobody read.
    pub subscriptions_cut: usize,
    /// Whether closing the registration at the publisher failed, or was not over in time.
    pub registration_left: bool,
    /// Connections that were closed before their time.
    pub connections_closed: usize,
    /// How long it took.
    pub duration: Duration,
}

impl ShutdownReport {
    /// Whether everything ended by itself.
    #[must_use]
    pub fn is_graceful(&self) -> bool {
        self.cancelled == 0
            && self.dropped == 0
            && self.residual == 0
            && self.subscriptions_cut == 0
            && !self.registration_left
            && self.connections_closed == 0
    }
}

/// The phase, and what happened on the way.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    phase: watch::Sender<Phase>,
    /// Listeners and streams that are being served.
    transports: watch::Sender<usize>,
    cancelled: AtomicUsize,
    dropped: AtomicUsize,
    connections_closed: AtomicUsize,
}

/// A transport that is being served, until it is dropped.
pub(crate) struct Serving<'l>(&'l Lifecycle);

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        self.0.transports.send_modify(|count| *count -= 1);
    }
}

impl Lifecycle {
    pub(crate) fn new() -> Self {
        Self {
            phase: watch::Sender::new(Phase::Running),
            transports: watch::Sender::new(0),
            cancelled: AtomicUsize::new(0),
            dropped: AtomicUsize::new(0),
            connections_closed: AtomicUsize::new(0),
        }
    }

    /// Counts a transport, for which shutdown waits.
    pub(crate) fn serving(&self) -> Serving<'_> {
        self.transports.send_modify(|count| *count += 1);
        Serving(self)
    }

    /// Waits until no transport is served any more.
    pub(crate) async fn transports_closed(&self) {
        // The sender lives as long as this borrow.
        let _ = self.transports.subscribe().wait_for(|count| *count == 0).await;
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Whether new requests are taken.
    pub(crate) fn is_running(&self) -> bool {
        self.phase() == Phase::Running
    }

    /// Goes on to a later phase; never back. Returns whether it did.
    pub(crate) fn advance(&self, to: Phase) -> bool {
        self.phase.send_if_modified(|phase| {
            let later = to > *phase;
            if later {
                *phase = to;
            }
            later
        })
    }

    /// Waits for a phase, or a later one.
    pub(crate) async fn reached(&self, phase: Phase) {
        let mut phases = self.phase.subscribe();
        // The sender lives as long as this borrow.
        let _ = phases.wait_for(|now| *now >= phase).await;
    }

    pub(crate) fn count_cancelled(&self) {
        self.cancelled.fetch_add(1, Relaxed);
    }

    /// Counts a handler whose future was dropped, if that is a part of the shutdown.
    pub(crate) fn count_dropped(&self) {
        if !self.is_running() {
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn count_closed_connection(&self) {
        self.connections_closed.fetch_add(1, Relaxed);
    }

    /// Adds what was counted on the way to a report.
    pub(crate) fn fill(&self, report: &mut ShutdownReport) {
        report.cancelled = self.cancelled.load(Relaxed);
        report.dropped = self.dropped.load(Relaxed);
        report.connections_closed = self.connections_closed.load(Relaxed);
    }
}
