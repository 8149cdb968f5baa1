//! The task of a publisher: it keeps a connection, sends what is pending, and tells what it hears.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::time::{Instant, sleep, timeout};

use super::{
    BoxError, Broker, Change, ChangePublisher as _, FleetOptions, Incoming, Outgoing, random, shared::Shared,
};

/// How many messages are in flight at once. While they are, what is published anew waits, and coalesces.
const BATCH: usize = 256;

/// The bytes of a message; no URI that a client can subscribe to is longer than 8 KiB.
const MAX_PAYLOAD: usize = 64 * 1024;

/// What the task has of its publisher. Callers are told when it is gone, whatever ended the task, and even if it never
/// ran.
pub(super) struct Running(pub(super) Arc<Shared>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Runs until it is aborted.
pub(super) async fn run(mut broker: impl Broker, running: Running, options: FleetOptions) {
    let shared = &*running.0;
    let mut backoff = Backoff::new(&options);
    let mut attempts = 0;
    loop {
        let started = Instant::now();
        let Err(error) = session(&mut broker, shared, &options).await;
        let was_connected = shared.disconnected();
        if was_connected {
            attempts = 0;
            if started.elapsed() >= options.max_backoff {
                backoff = Backoff::new(&options);
            }
        }
        let (delay, address) = (backoff.next(), broker.address());
        attempts += 1;
        match (was_connected, attempts) {
            (true, _) => tracing::warn!(address, error, ?delay, "lost the broker of changes"),
            (false, 1) => tracing::warn!(address, error, ?delay, "the broker of changes can't be reached"),
            (false, _) => tracing::debug!(address, error, ?delay, attempts, "the broker is still away"),
        }
        sleep(delay).await;
    }
}

/// One connection, from its beginning to whatever ends it.
async fn session(
    broker: &mut impl Broker,
    shared: &Shared,
    options: &FleetOptions,
) -> Result<Infallible, BoxError> {
    let Ok(connection) = timeout(options.timeout, broker.connect()).await else {
        return Err(format!("not connected within {:?}", options.timeout).into());
    };
    let (outgoing, mut incoming) = connection?;
    let address = broker.address();
    tokio::select! {
        ended = speak(&outgoing, shared, options, &address) => ended,
        ended = listen(&mut incoming, shared) => ended,
    }
}

async fn speak(
    outgoing: &impl Outgoing,
    shared: &Shared,
    options: &FleetOptions,
    address: &str,
) -> Result<Infallible, BoxError> {
    // Whatever has been asked for before is active when this one comes back.
    exchange(outgoing, shared, options, vec![shared.ping()]).await?;
    shared.connected();
    tracing::info!(address, "connected to the broker of changes");
    // In this order: who fetches because of this is subscribed to whatever changes from now on.
    tell(shared, &Change::Everything);
    let max_payload = outgoing.max_payload().min(MAX_PAYLOAD);
    loop {
        let due = shared.heard_at() + options.ping_interval;
        let batch = shared.next_batch(BATCH, max_payload, due).await;
        // What others said meanwhile shows as well that the connection is alive; so a whole fleet needs one ping.
        let alive = || shared.heard_at() + options.ping_interval > Instant::now();
        match batch {
            Some(batch) => exchange(outgoing, shared, options, batch).await?,
            None if alive() => {}
            None => exchange(outgoing, shared, options, vec![shared.ping()]).await?,
        }
    }
}

/// Sends messages, and waits until they are back.
async fn exchange(
    outgoing: &impl Outgoing,
    shared: &Shared,
    options: &FleetOptions,
    batch: Vec<Bytes>,
) -> Result<(), BoxError> {
    let echoed = async {
        outgoing.publish(batch).await?;
        shared.all_landed().await;
        Ok(())
    };
    let echoed = timeout(options.timeout, echoed).await;
    echoed.unwrap_or_else(|_| Err(format!("nothing was confirmed within {:?}", options.timeout).into()))
}

async fn listen(incoming: &mut impl Incoming, shared: &Shared) -> Result<Infallible, BoxError> {
    loop {
        let payload = incoming.next().await?;
        if let Some(change) = shared.hear(&payload) {
            tell(shared, &change);
        }
    }
}

/// Tells the listeners here. Nobody published who could be told of their failures.
fn tell(shared: &Shared, change: &Change) {
    if let Err(error) = shared.listeners.publish(change) {
        tracing::warn!(%error, "a change from another server was not heard by all");
    }
}

/// Ever longer waits.
struct Backoff {
    delay: Duration,
    max: Duration,
}

impl Backoff {
    fn new(options: &FleetOptions) -> Self {
        Self { delay: options.min_backoff, max: options.max_backoff }
    }

    /// Between a half of the delay and all of it.
    fn next(&mut self) -> Duration {
        let delay = self.delay;
        self.delay = delay.saturating_mul(2).min(self.max);
        let share = (random() >> 32) as f64 / f64::from(u32::MAX);
        delay.mul_f64(0.5 + share / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_their_bound_and_are_shortened_at_random() {
        let options = FleetOptions::new();
        let mut backoff = Backoff::new(&options);
        let mut full = options.min_backoff;
        for _ in 0..20 {
            let delay = backoff.next();
            assert!(delay >= full / 2 && delay <= full, "{delay:?} of {full:?}");
            full = (full * 2).min(options.max_backoff);
        }
        let first = || Backoff::new(&options).next();
        assert!((0..20).any(|_| first() != first()));
    }
}
