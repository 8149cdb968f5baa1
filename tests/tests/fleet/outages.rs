//! A fleet whose broker is not well.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use mcp_runtime::subscription::{Change, ChangePublisher, FleetStatus, Registration};
use mcp_tests::{eventually, seconds};
use tokio::time::{sleep, timeout};

use crate::{
    broker::Broker,
    server::{FleetPublisher, Server, part, quick},
};

pub async fn servers_start_before_their_broker<P: FleetPublisher>() {
    let Some(mut broker) = Broker::find(P::KIND).await else { return };
    let a = Server::<P>::new(&broker.url(), quick());
    let b = Server::<P>::new(&broker.url(), quick());
    for number in [1, 2, 1] {
        a.publisher.publish(&part(number)).expect("it is told");
    }
    sleep(Duration::from_millis(100)).await;
    assert_eq!(a.heard(), [part(1), part(2), part(1)]);
    assert_eq!((a.publisher.status().connected, a.publisher.status().pending), (false, 2));
    broker.restart().await;
    // Both may have missed something; and what was pending is told.
    a.hears(&Change::Everything).await;
    b.hears(&Change::Everything).await;
    eventually("all is confirmed", || a.publisher.status().pending == 0).await;
    b.publisher.publish(&part(3)).expect("it is told");
    a.hears(&part(3)).await;
}

pub async fn a_broker_that_is_frozen_is_given_up<P: FleetPublisher>() {
    let Some(broker) = Broker::start(P::KIND).await else { return };
    let options = || quick().ping_interval(Duration::from_millis(100)).timeout(Duration::from_millis(500));
    let a = Server::<P>::connected(&broker.url(), options()).await;
    let b = Server::<P>::connected(&broker.url(), options()).await;
    broker.freeze().await;
    eventually("the silence is noticed", || {
        !a.publisher.status().connected && !b.publisher.status().connected
    })
    .await;
    a.publisher.publish(&part(1)).expect("it is told");
    broker.thaw().await;
    a.hears(&Change::Everything).await;
    b.hears(&Change::Everything).await;
    eventually("all is confirmed", || a.publisher.status().pending == 0).await;
    a.publisher.publish(&part(2)).expect("it is told");
    b.hears(&part(2)).await;
}

pub const KEYS: usize = 120;
const CHANGES: usize = 3000;
const OUTAGES: usize = 3;

/// What there is to know: the version of each key.
pub type Versions = Arc<[AtomicU64]>;

pub fn versions() -> Versions {
    (0..KEYS).map(|_| AtomicU64::new(0)).collect()
}

/// What a server's clients know: on each word they look up what it is about, as they should.
pub struct Client {
    known: Versions,
    told: Arc<AtomicU64>,
    told_everything: Arc<AtomicU64>,
    _registration: Registration,
}

impl Client {
    pub fn new(publisher: &impl ChangePublisher, truth: &Versions) -> Self {
        let (known, told, told_everything) =
            (versions(), Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
        let (mine, truth, single, all) =
            (Arc::clone(&known), Arc::clone(truth), Arc::clone(&told), Arc::clone(&told_everything));
        let parts: Vec<_> = (0..KEYS).map(part).collect();
        let fetch = move |key: usize| {
            mine[key].fetch_max(truth[key].load(SeqCst), SeqCst);
        };
        let registration = publisher.subscribe(Arc::new(move |change: &Change| {
            if *change == Change::Everything {
                all.fetch_add(1, SeqCst);
                (0..KEYS).for_each(&fetch);
            } else if let Some(key) = parts.iter().position(|part| part == change) {
                single.fetch_add(1, SeqCst);
                fetch(key);
            }
            Ok(())
        }));
        Self { known, told, told_everything, _registration: registration }
    }

    /// Keys of which it does not know the last version.
    pub fn missed(&self, truth: &Versions) -> usize {
        (0..KEYS).filter(|&key| self.known[key].load(SeqCst) != truth[key].load(SeqCst)).count()
    }
}

/// Changes keys, a few at a time, and leaves them behind: the last change of some falls into each outage.
async fn publish(publisher: impl ChangePublisher, truth: Versions, phase: usize) {
    for number in 0..CHANGES {
        let key = (number * KEYS / CHANGES + (number + phase) % 7) % KEYS;
        truth[key].fetch_add(1, SeqCst);
        publisher.publish(&part(key)).expect("it is told");
        sleep(Duration::from_millis(1)).await;
    }
}

pub async fn nothing_is_missed_when_the_broker_is_killed_under_load<P: FleetPublisher>() {
    let Some(mut broker) = Broker::start(P::KIND).await else { return };
    let truth = versions();
    let mut publishers = Vec::new();
    for _ in 0..3 {
        publishers.push(Server::<P>::connected(&broker.url(), quick()).await.publisher);
    }
    let clients: Vec<_> = publishers.iter().map(|publisher| Client::new(publisher, &truth)).collect();
    // Two publish, and the third one only listens.
    let loads: Vec<_> = publishers[..2]
        .iter()
        .enumerate()
        .map(|(phase, publisher)| tokio::spawn(publish(publisher.clone(), Arc::clone(&truth), phase * 3)))
        .collect();
    for _ in 0..OUTAGES {
        sleep(Duration::from_millis(700)).await;
        broker.kill().await;
        sleep(Duration::from_millis(300)).await;
        broker.restart().await;
    }
    for load in loads {
        timeout(seconds(60), load).await.expect("in time").expect("it ends well");
    }
    let settled = Instant::now();
    eventually("all is confirmed", || publishers.iter().all(|publisher| publisher.status().pending == 0))
        .await;
    eventually("everybody knows all", || clients.iter().all(|client| client.missed(&truth) == 0)).await;
    report::<P>(&publishers, &clients, &truth, settled.elapsed());
    for status in publishers.iter().map(FleetPublisher::status) {
        assert_eq!(status.published, status.confirmed + status.coalesced, "{status:?}");
        assert_eq!(status.gaps, 1 + OUTAGES as u64, "{status:?}");
    }
}

/// The figures, for whoever runs this with `--nocapture`.
fn report<P: FleetPublisher>(publishers: &[P], clients: &[Client], truth: &Versions, settled: Duration) {
    println!(
        "{:?}: {OUTAGES} times killed, {KEYS} keys; all were told {settled:?} after the last change",
        P::KIND
    );
    for (server, (publisher, client)) in publishers.iter().zip(clients).enumerate() {
        let FleetStatus { published, confirmed, coalesced, received, gaps, .. } = publisher.status();
        let (told, everything) = (client.told.load(SeqCst), client.told_everything.load(SeqCst));
        let missed = client.missed(truth);
        println!(
            "  server {server}: published {published}, confirmed {confirmed}, coalesced {coalesced}, received \
             {received}, gaps {gaps}; its client was told {told} changes and {everything} times everything, and \
             missed {missed}",
        );
    }
}
