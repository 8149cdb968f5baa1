//! Publishers for a fleet: a change that one server publishes reaches the streams of all.
//!
//! Every publisher speaks to its broker over one connection that publishes, and is subscribed to, one channel. What it
//! publishes therefore comes back to it, and that echo is the one proof that everything here rests on: a change has
//! been passed on when its echo is there, the subscription is active when the echo of the first message is there, and
//! the connection is alive while anything is heard at all.
//!
//! A broker's own part is small: to connect, to publish, and to hand over what arrives. It never reconnects by itself,
//! so that no gap in the subscription stays unseen.

mod engine;
mod message;
#[cfg(feature = "nats")]
mod nats;
mod options;
mod pending;
#[cfg(feature = "redis")]
mod redis;
mod shared;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use bytes::Bytes;
use tokio::{runtime::Handle, task::AbortHandle};

#[cfg(feature = "nats")]
pub use self::nats::NatsPublisher;
#[cfg(feature = "redis")]
pub use self::redis::RedisPublisher;
use self::shared::Shared;
pub use self::{
    options::{FleetError, FleetOptions},
    shared::FleetStatus,
};
use super::{BoxError, Change, ChangeListener, ChangePublisher, PublishError, Registration};

/// What a broker has to do.
trait Broker: Send + 'static {
    type Outgoing: Outgoing;
    type Incoming: Incoming;

    /// Where it is, without credentials; for logs.
    fn address(&self) -> String;

    /// Connects, and asks for the subscription. The caller limits the time. Dropping either half ends the connection.
    fn connect(&mut self) -> impl Future<Output = Result<(Self::Outgoing, Self::Incoming), BoxError>> + Send;
}

/// The half of a connection that publishes.
trait Outgoing: Send + Sync {
    /// The bytes that a message may have.
    fn max_payload(&self) -> usize {
        usize::MAX
    }

    /// Publishes messages in their order. Returning says only that they are on their way.
    fn publish(&self, payloads: Vec<Bytes>) -> impl Future<Output = Result<(), BoxError>> + Send;
}

/// The half of a connection that hears.
trait Incoming: Send {
    /// The next message; an error once a message may have been missed, be it for the end of the connection or for a
    /// queue that ran over. It can be dropped and called again.
    fn next(&mut self) -> impl Future<Output = Result<Bytes, BoxError>> + Send;
}

/// A running publisher. The last clone takes its task with it.
#[derive(Clone)]
struct Fleet(Arc<Owner>);

struct Owner {
    shared: Arc<Shared>,
    task: AbortHandle,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fleet {
    fn start(broker: impl Broker, options: FleetOptions) -> Result<Self, FleetError> {
        options.check()?;
        let runtime = Handle::try_current().map_err(|_| FleetError::NoRuntime)?;
        let shared = Arc::new(Shared::new(&options));
        let task =
            runtime.spawn(engine::run(broker, engine::Running(Arc::clone(&shared)), options)).abort_handle();
        Ok(Self(Arc::new(Owner { shared, task })))
    }

    fn status(&self) -> FleetStatus {
        self.0.shared.status()
    }

    async fn ready(&self) -> Result<(), PublishError> {
        self.0.shared.until(|status| status.connected).await
    }

    async fn flush(&self) -> Result<(), PublishError> {
        self.0.shared.until(|status| status.pending == 0).await
    }
}

impl ChangePublisher for Fleet {
    fn subscribe(&self, listener: Arc<dyn ChangeListener>) -> Registration {
        self.0.shared.listeners.subscribe(listener)
    }

    fn publish(&self, change: &Change) -> Result<(), PublishError> {
        // The others are told even if a listener fails here.
        let queued = self.0.shared.add(change);
        self.0.shared.listeners.publish(change)?;
        queued
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.status().fmt(f)
    }
}

/// The methods that publishers of all brokers have.
macro_rules! fleet_publisher {
    ($publisher:ident) => {
        impl $publisher {
            /// What it has done so far, and whether it is connected.
            #[must_use]
            pub fn status(&self) -> $crate::subscription::FleetStatus {
                self.0.status()
            }

            /// Waits until the broker has confirmed the subscription; at once if it has.
            ///
            /// A server need not wait: what it publishes meanwhile is queued, and it is told when it may have missed
            /// something.
            ///
            /// # Errors
            /// [`PublishError::Unavailable`](crate::subscription::PublishError::Unavailable) if the runtime that it
            /// was created in has ended.
            pub async fn ready(&self) -> Result<(), $crate::subscription::PublishError> {
                self.0.ready().await
            }

            /// Waits until nothing is pending: the broker has confirmed all that was published before. Worth a few
            /// seconds before a process ends, since what is pending ends with it.
            ///
            /// # Errors
            /// As [`ready`](Self::ready).
            pub async fn flush(&self) -> Result<(), $crate::subscription::PublishError> {
                self.0.flush().await
            }
        }

        impl $crate::subscription::ChangePublisher for $publisher {
            fn subscribe(
                &self,
                listener: std::sync::Arc<dyn $crate::subscription::ChangeListener>,
            ) -> $crate::subscription::Registration {
                self.0.subscribe(listener)
            }

            fn publish(
                &self,
                change: &$crate::subscription::Change,
            ) -> Result<(), $crate::subscription::PublishError> {
                self.0.publish(change)
            }
        }

        impl std::fmt::Debug for $publisher {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($publisher)).field(&self.0).finish()
            }
        }
    };
}
use fleet_publisher;

/// A number that nobody can guess or has twice: the seeds of the standard library's hashers are random, and the count
/// tells apart what is asked for with equal seeds.
fn random() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    RandomState::new().hash_one(COUNT.fetch_add(1, Relaxed))
}
