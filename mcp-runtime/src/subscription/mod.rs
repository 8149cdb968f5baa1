//! Being told of changes (specification: `basic/patterns/subscriptions`).
//!
//! The application says what has changed, in one line; all else is the framework's: who may hear it, the
//! acknowledgement, slow readers, leases, keep-alives, limits, the end.
//!
//! ```
//! use mcp_runtime::{
//!     prelude::*,
//!     subscription::allow_all,
//!     testing::{Client, Heard},
//! };
//!
//! #[mcp_endpoint(path = "/mcp", name = "notes", version = "1.0.0", changes(updates))]
//! struct Notes;
//!
//! /// A note.
//! #[mcp_resource(endpoint = Notes, uri = "note://{id}")]
//! async fn note(id: String) -> String {
//!     format!("note {id}")
//! }
//!
//! /// Writes a note.
//! #[mcp_tool(endpoint = Notes)]
//! async fn write(id: String, publisher: Publisher) -> Result<&'static str, ToolError> {
//!     publisher.resource_updated(&format!("note://{id}"))?;
//!     Ok("written")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = McpServer::builder().select::<Notes>().subscription_authorizer(allow_all()).build()?;
//! let client = Client::new(&server);
//! let mut listening = client.listen().resource("note://7").open().await?;
//! client.call("write").arg("id", "7").await?;
//! assert_eq!(listening.next().await, Some(Heard::resource("note://7")));
//! # Ok(())
//! # }
//! ```
//!
//! # What a client can rely on
//!
//! A stream is no log. It carries what changes after its acknowledgement, each key at most once until it is written:
//! a client that reads slowly hears of the last change of everything, and not of every change in between. So a client
//! subscribes, awaits the acknowledgement, and then fetches; when a stream is lost, it opens the next one first, and
//! fetches again when that is acknowledged.
//!
//! # Permission
//!
//! A [`SubscriptionAuthorizer`] is asked before the acknowledgement, and again before each lease ends. A lease is the
//! shortest of the authorizer's own [`Grant`], `max_lease` and what is left of `listen_lifetime`. When it ends without
//! a new one, nothing more is delivered: what changes then is kept, and delivered if permission comes after all.
//! [`Subscriptions::reconcile`] does that to all streams at once.

mod authorizer;
mod cell;
mod change;
mod check;
mod directory;
mod dirty;
mod end;
#[cfg(any(feature = "nats", feature = "redis"))]
mod fleet;
mod hub;
mod keeper;
mod looks;
#[cfg(test)]
mod model;
mod open;
mod publisher;
mod selection;
mod stream;
mod subscriptions;
mod sync;
#[cfg(test)]
mod tests;
mod views;
mod watch;

#[cfg(feature = "nats")]
pub use self::fleet::NatsPublisher;
#[cfg(feature = "redis")]
pub use self::fleet::RedisPublisher;
#[cfg(any(feature = "nats", feature = "redis"))]
pub use self::fleet::{FleetError, FleetOptions, FleetStatus};
pub(crate) use self::{
    authorizer::AuthorizerChoice,
    hub::{Bounds, Hub},
    open::ListenRequest,
    selection::FilterBounds,
    stream::Subscription,
    views::{Digesting, Digests, Viewer, Views},
    watch::DynWatcher,
};
pub use self::{
    authorizer::{
        AllowAll, DenyAll, Grant, Permission, SubscriptionAuthorizer, SubscriptionCheck, allow_all, deny_all,
    },
    change::{Change, ChangeKind, InvalidUri, ResourceUri},
    end::EndReason,
    publisher::{
        BoxError, ChangeListener, ChangePublisher, InMemoryPublisher, PublishError, Publisher, Registration,
    },
    selection::Selection,
    subscriptions::Subscriptions,
    watch::ResourceWatcher,
};
