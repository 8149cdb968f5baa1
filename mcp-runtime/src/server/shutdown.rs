//! The end of a server: drain, cancel, drop, report.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OnceCell, watch},
    time::{Instant, timeout},
};

use crate::engine::{Phase, Shared, ShutdownReport};

/// How long dropped work may take to notice; it only has to be polled once more.
const LAST_POLLS: Duration = Duration::from_millis(250);

/// Ends a server, and tells how that went. Clones are handles of one server.
#[derive(Clone)]
pub struct ServerHandle {
    shared: Arc<Shared>,
    report: Arc<OnceCell<ShutdownReport>>,
}

impl ServerHandle {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, report: Arc::default() }
    }

    /// Shuts the server down, and waits for it.
    ///
    /// New work is refused with HTTP 503 at once. What runs may finish for `graceful_shutdown`; then it is cancelled,
    /// and has `forced_shutdown` to end; then its futures are dropped. A second call waits for the first one's
    /// report.
    pub async fn shutdown(&self) -> ShutdownReport {
        *self.report.get_or_init(|| end(&self.shared)).await
    }

    /// The report, once the server has shut down.
    #[must_use]
    pub fn report(&self) -> Option<ShutdownReport> {
        self.report.get().copied()
    }

    /// Handlers that hold a place now, whether somebody waits for them or not.
    #[must_use]
    pub fn running(&self) -> usize {
        self.shared.gate.running()
    }

    /// Requests that wait for a place now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.shared.gate.waiting()
    }
}

impl std::fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerHandle").field("report", &self.report()).finish_non_exhaustive()
    }
}

/// Closes the server's registration at its publisher, which is application code: it may block, or panic. Returns
/// whether it is closed; if that fails, nobody will say so.
fn close_registration(shared: &Shared) -> watch::Receiver<bool> {
    let registration = shared.registration.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (closed, closes) = watch::channel(registration.is_none());
    if let Some(registration) = registration {
        tokio::task::spawn_blocking(move || {
            registration.close();
            closed.send_replace(true);
        });
    }
    closes
}

async fn end(shared: &Shared) -> ShutdownReport {
    let began = Instant::now();
    let (lifecycle, gate, limits) = (&shared.lifecycle, &shared.gate, &shared.limits);
    let hub = &shared.subscriptions;
    let mut report = ShutdownReport {
        running: gate.running() + gate.waiting(),
        subscriptions: hub.open_streams(),
        ..ShutdownReport::default()
    };
    tracing::info!(running = report.running, subscriptions = report.subscriptions, "shutting down");
    lifecycle.advance(Phase::Draining);
    hub.shut_down();
    let registration = close_registration(shared);
    let ended = async || {
        gate.drained().await;
        hub.drained().await;
        lifecycle.transports_closed().await;
        let _ = registration.clone().wait_for(|closed| *closed).await;
    };
    if timeout(limits.graceful_shutdown, ended()).await.is_err() {
        lifecycle.advance(Phase::Cancelling);
        report.subscriptions_cut = hub.cut_all();
        let _ = timeout(limits.forced_shutdown, ended()).await;
    }
    lifecycle.advance(Phase::Stopped);
    let _ = timeout(LAST_POLLS, ended()).await;
    report.registration_left = !*registration.borrow();
    lifecycle.fill(&mut report);
    report.residual = gate.running();
    report.duration = began.elapsed();
    if report.is_graceful() {
        tracing::info!(duration = ?report.duration, "shut down");
    } else {
        tracing::warn!(?report, "shut down by force");
    }
    report
}
