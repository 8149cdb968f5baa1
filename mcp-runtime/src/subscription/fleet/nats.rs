//! A fleet over NATS.

use std::{future::poll_fn, pin::Pin, time::Duration};

use async_nats::{Client, ConnectOptions, Event, Message, ServerAddr, Subscriber, ToServerAddrs};
use bytes::Bytes;
use futures_core::Stream as _;
use tokio::{sync::mpsc, task::JoinSet};

use super::{BoxError, Broker, Fleet, FleetError, FleetOptions, Incoming, Outgoing, fleet_publisher};

/// Broadcasts changes to all servers of a fleet over a NATS subject. Clones share one connection, and the last one ends
/// it.
///
/// Core NATS is all it needs: no streams, no acknowledgements, and permission to publish and subscribe on one subject.
/// TLS works if the application enables a cryptography feature of the crate `async-nats`: `ring` or `aws-lc-rs`.
///
/// - **Publishing** never waits. Listeners of this process are told at once, even while NATS is away. For the others the
///   change is queued until NATS has confirmed it by handing it back; if the connection breaks before, it is sent again.
///   Each change is in the queue at most once, so it is bounded by [`max_pending`](FleetOptions::max_pending).
/// - **Connecting** happens in the background, and goes on for ever, with the waits of [`FleetOptions`]. NATS need not
///   be there when a server starts. Of several addresses the next one is tried each time. A connection that is silent is
///   probed every [`ping_interval`](FleetOptions::ping_interval).
/// - **Gaps.** NATS keeps nothing for who is not connected, and drops messages for who is too slow. So each time that
///   the subscription is active again, and the first time too, listeners are told
///   [`Change::Everything`](crate::subscription::Change::Everything).
///
/// Nodes of a cluster tell each other of subscriptions in their own time: what they lose between themselves, no client
/// can notice. Where that matters, let the servers of a fleet use one node, and the others for when it fails.
///
/// ```no_run
/// use mcp_runtime::subscription::{ChangePublisher, FleetOptions, NatsPublisher};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = FleetOptions::new().channel("parts.changes");
/// let publisher = NatsPublisher::connect_lazy("nats://127.0.0.1:4222", options)?;
/// publisher.resource_updated("catalog://parts/4711")?;
/// println!("{:?}", publisher.status());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct NatsPublisher(Fleet);

fleet_publisher!(NatsPublisher);

impl NatsPublisher {
    /// A publisher that connects in the background; one URL such as `nats://user:password@host:4222`, or several.
    ///
    /// # Errors
    /// If an address is none, the options make no sense, or there is no tokio runtime here. Not if NATS does not answer:
    /// that is what [`status`](Self::status) tells.
    pub fn connect_lazy(servers: impl ToServerAddrs, options: FleetOptions) -> Result<Self, FleetError> {
        Self::connect_lazy_with(servers, ConnectOptions::new(), options)
    }

    /// The same with credentials, certificates and whatever else is to be set in the crate `async-nats`. How it
    /// reconnects, its events and its timeout are not: they are seen to here. With `no_echo` nothing is ever confirmed.
    ///
    /// # Errors
    /// As [`connect_lazy`](Self::connect_lazy).
    pub fn connect_lazy_with(
        servers: impl ToServerAddrs,
        connect_options: ConnectOptions,
        options: FleetOptions,
    ) -> Result<Self, FleetError> {
        let servers = servers.to_server_addrs().map_err(|error| FleetError::Address(error.into()))?;
        let servers: Vec<_> = servers.collect();
        if servers.is_empty() {
            return Err(FleetError::Address("there is none".into()));
        }
        if !is_one_subject(&options.channel) {
            return Err(FleetError::Options(
                "a subject to publish to has no wildcards, spaces or empty parts",
            ));
        }
        let connect_options = connect_options
            .connection_timeout(options.timeout)
            .ignore_discovered_servers()
            // Once is the least that the crate can be told. It is of no use to it: the connection has been given up.
            .max_reconnects(1)
            .reconnect_delay_callback(|_| Duration::ZERO);
        let broker = Nats { servers, current: usize::MAX, connect_options, subject: options.channel.clone() };
        Fleet::start(broker, options).map(Self)
    }
}

fn is_one_subject(subject: &str) -> bool {
    let wrong = |c: char| c.is_whitespace() || c.is_control();
    !subject.contains(wrong) && subject.split('.').all(|token| !matches!(token, "" | "*" | ">"))
}

struct Nats {
    servers: Vec<ServerAddr>,
    /// The one in use, counted on and on.
    current: usize,
    connect_options: ConnectOptions,
    subject: String,
}

struct Publishing {
    client: Client,
    subject: String,
}

struct Subscribed {
    messages: Subscriber,
    /// Why messages may have been missed.
    broken: mpsc::Receiver<String>,
}

impl Nats {
    fn server(&self) -> &ServerAddr {
        &self.servers[self.current % self.servers.len()]
    }

    /// The credentials of the address, which the crate does not look at.
    fn credentials(&self, server: &ServerAddr) -> ConnectOptions {
        let options = self.connect_options.clone();
        match (server.username(), server.password()) {
            (Some(user), Some(password)) => options.user_and_password(user.into(), password.into()),
            (Some(token), None) => options.token(token.into()),
            (None, _) => options,
        }
    }
}

impl Broker for Nats {
    type Outgoing = Publishing;
    type Incoming = Subscribed;

    fn address(&self) -> String {
        let server = self.server();
        format!("{}:{}", server.host(), server.port())
    }

    async fn connect(&mut self) -> Result<(Publishing, Subscribed), BoxError> {
        let (sender, broken) = mpsc::channel(1);
        self.current = self.current.wrapping_add(1);
        let server = self.server().clone();
        let options = self.credentials(&server).event_callback(move |event| {
            if let Some(reason) = breaks(&event) {
                // The first reason is enough.
                let _ = sender.try_send(reason);
            }
            std::future::ready(())
        });
        // In a task of its own: the crate panics when it is to use TLS, and was built without cryptography.
        let mut connecting = JoinSet::new();
        connecting.spawn(options.connect(server));
        let client = connecting.join_next().await.ok_or("nothing is connecting")???;
        let messages = client.subscribe(self.subject.clone()).await?;
        Ok((Publishing { client, subject: self.subject.clone() }, Subscribed { messages, broken }))
    }
}

/// Why the connection is worth nothing any more. The crate reconnects without a word in the stream of messages, drops
/// messages that are not taken, and publishes without asking whether it may.
fn breaks(event: &Event) -> Option<String> {
    match event {
        Event::Disconnected
        | Event::Closed
        | Event::Draining
        | Event::SlowConsumer(_)
        | Event::ServerError(_) => Some(event.to_string()),
        Event::Connected | Event::LameDuckMode | Event::ClientError(_) => None,
    }
}

impl Outgoing for Publishing {
    fn max_payload(&self) -> usize {
        self.client.max_payload()
    }

    async fn publish(&self, payloads: Vec<Bytes>) -> Result<(), BoxError> {
        for payload in payloads {
            self.client.publish(self.subject.clone(), payload).await?;
        }
        Ok(())
    }
}

async fn next(messages: &mut Subscriber) -> Option<Message> {
    poll_fn(|cx| Pin::new(&mut *messages).poll_next(cx)).await
}

impl Incoming for Subscribed {
    async fn next(&mut self) -> Result<Bytes, BoxError> {
        tokio::select! {
            biased;
            reason = self.broken.recv() => Err(reason.unwrap_or_else(|| "the connection was closed".into()).into()),
            message = next(&mut self.messages) => match message {
                Some(message) => Ok(message.payload),
                None => Err("the subscription was ended".into()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_subject_can_be_published_to() {
        for subject in ["mcp.changes", "a", "a.b-c_d"] {
            assert!(is_one_subject(subject), "{subject}");
        }
        for subject in ["", ".a", "a.", "a..b", "a.*", "a.>", "a b", "a\r\nPUB"] {
            assert!(!is_one_subject(subject), "{subject}");
        }
    }
}
