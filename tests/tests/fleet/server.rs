//! What a server has of a fleet: a publisher, and a listener.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_runtime::subscription::{
    Change, ChangePublisher, FleetError, FleetOptions, FleetStatus, Registration,
};
use mcp_tests::eventually;

use crate::broker::Kind;

/// The publishers that are tested.
pub trait FleetPublisher: ChangePublisher + Clone {
    const KIND: Kind;

    fn connect(url: &str, options: FleetOptions) -> Result<Self, FleetError>;
    fn status(&self) -> FleetStatus;
}

#[cfg(feature = "nats")]
impl FleetPublisher for mcp_runtime::subscription::NatsPublisher {
    const KIND: Kind = Kind::Nats;

    fn connect(url: &str, options: FleetOptions) -> Result<Self, FleetError> {
        Self::connect_lazy(url, options)
    }

    fn status(&self) -> FleetStatus {
        self.status()
    }
}

#[cfg(feature = "redis")]
impl FleetPublisher for mcp_runtime::subscription::RedisPublisher {
    const KIND: Kind = Kind::Redis;

    fn connect(url: &str, options: FleetOptions) -> Result<Self, FleetError> {
        Self::connect_lazy(url, options)
    }

    fn status(&self) -> FleetStatus {
        self.status()
    }
}

/// Options for tests that do not want to wait.
pub fn quick() -> FleetOptions {
    FleetOptions::new().min_backoff(Duration::from_millis(10)).max_backoff(Duration::from_millis(200))
}

pub struct Server<P> {
    pub publisher: P,
    heard: Arc<Mutex<Vec<Change>>>,
    _registration: Registration,
}

impl<P: FleetPublisher> Server<P> {
    pub fn new(url: &str, options: FleetOptions) -> Self {
        Self::of(P::connect(url, options).expect("a publisher"))
    }

    pub fn of(publisher: P) -> Self {
        let heard = Arc::<Mutex<Vec<_>>>::default();
        let log = Arc::clone(&heard);
        let registration = publisher.subscribe(Arc::new(move |change: &Change| {
            log.lock().expect("a log").push(change.clone());
            Ok(())
        }));
        Self { publisher, heard, _registration: registration }
    }

    /// One that is connected, and has said all that it had to.
    pub async fn connected(url: &str, options: FleetOptions) -> Self {
        let server = Self::new(url, options);
        server.hears(&Change::Everything).await;
        server
    }

    /// Waits until it has heard of a change, and forgets what it has heard.
    pub async fn hears(&self, change: &Change) {
        eventually("the change is heard", || self.heard.lock().expect("a log").contains(change)).await;
        self.heard();
    }

    /// How much it has heard since then.
    #[cfg(feature = "redis")]
    pub fn count(&self) -> usize {
        self.heard.lock().expect("a log").len()
    }

    /// What it has heard since it was last asked.
    pub fn heard(&self) -> Vec<Change> {
        std::mem::take(&mut *self.heard.lock().expect("a log"))
    }
}

pub fn part(number: usize) -> Change {
    Change::resource(&format!("catalog://parts/{number}")).expect("a URI")
}
