//! A fleet over Redis pub/sub.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use redis::{
    AsyncConnectionConfig, Client, IntoConnectionInfo, ProtocolVersion, PushInfo, PushKind, Value,
    aio::MultiplexedConnection,
};
use tokio::sync::mpsc;

use super::{BoxError, Broker, Fleet, FleetError, FleetOptions, Incoming, Outgoing, fleet_publisher};

/// How many messages may wait to be heard. Beyond that they are not kept: that is a gap as any other.
const QUEUE: usize = 65_536;

/// Broadcasts changes to all servers of a fleet over Redis pub/sub. Clones share one connection, and the last one ends
/// it.
///
/// Redis 6 or later, or Valkey: one RESP3 connection both publishes and is subscribed. The user needs the commands
/// `PUBLISH` and `SUBSCRIBE` on the channel. `rediss://` works if the application enables a TLS feature of the crate
/// `redis`.
///
/// - **Publishing** never waits. Listeners of this process are told at once, even while Redis is away. For the others
///   the change is queued until Redis has confirmed it by handing it back; if the connection breaks before, it is sent
///   again. Each change is in the queue at most once, so it is bounded by
///   [`max_pending`](FleetOptions::max_pending).
/// - **Connecting** happens in the background, and goes on for ever, with the waits of [`FleetOptions`]. Redis need not
///   be there when a server starts. A connection that is silent is probed every
///   [`ping_interval`](FleetOptions::ping_interval).
/// - **Gaps.** Redis keeps nothing for who is not connected. So each time that the subscription is active again, and the
///   first time too, listeners are told [`Change::Everything`](crate::subscription::Change::Everything).
///
/// Nodes of a cluster, and replicas, pass messages on to each other as Redis does it: what they lose between
/// themselves, no client can notice. Let the servers of a fleet use one node.
///
/// ```no_run
/// use mcp_runtime::subscription::{ChangePublisher, FleetOptions, RedisPublisher};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = FleetOptions::new().channel("parts.changes");
/// let publisher = RedisPublisher::connect_lazy("redis://127.0.0.1/", options)?;
/// publisher.resource_updated("catalog://parts/4711")?;
/// println!("{:?}", publisher.status());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisPublisher(Fleet);

fleet_publisher!(RedisPublisher);

impl RedisPublisher {
    /// A publisher that connects in the background; a URL such as `redis://user:password@host:6379`, or whatever else
    /// the crate `redis` takes as an address.
    ///
    /// # Errors
    /// If the address is none, the options make no sense, or there is no tokio runtime here. Not if Redis does not
    /// answer: that is what [`status`](Self::status) tells.
    pub fn connect_lazy(address: impl IntoConnectionInfo, options: FleetOptions) -> Result<Self, FleetError> {
        let info = address.into_connection_info().map_err(|error| FleetError::Address(error.into()))?;
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
        let client = Client::open(info.set_redis_settings(settings));
        let client = client.map_err(|error| FleetError::Address(error.into()))?;
        let broker = Redis { client, channel: options.channel.clone() };
        Fleet::start(broker, options).map(Self)
    }
}

struct Redis {
    client: Client,
    channel: String,
}

struct Publishing {
    connection: MultiplexedConnection,
    channel: String,
}

struct Subscribed {
    messages: mpsc::Receiver<Bytes>,
    ended: Arc<OnceLock<&'static str>>,
}

impl Broker for Redis {
    type Outgoing = Publishing;
    type Incoming = Subscribed;

    fn address(&self) -> String {
        self.client.get_connection_info().addr().to_string()
    }

    async fn connect(&mut self) -> Result<(Publishing, Subscribed), BoxError> {
        let (sender, messages) = mpsc::channel(QUEUE);
        let ended = Arc::new(OnceLock::new());
        // All waiting is bounded by the caller.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None)
            .set_push_sender(pushes(sender, Arc::clone(&ended)));
        let mut connection = self.client.get_multiplexed_async_connection_with_config(&config).await?;
        connection.subscribe(&self.channel).await?;
        Ok((Publishing { connection, channel: self.channel.clone() }, Subscribed { messages, ended }))
    }
}

/// Takes what the connection pushes. After the first message that can't be kept, and after the end of the connection,
/// it lets go of the queue, so that its reader finds the end behind the last message.
fn pushes(
    sender: mpsc::Sender<Bytes>,
    ended: Arc<OnceLock<&'static str>>,
) -> impl Fn(PushInfo) -> Result<(), mpsc::error::SendError<()>> + Send + Sync + 'static {
    let sender = Mutex::new(Some(sender));
    move |push| {
        let mut sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
        let end = match push.kind {
            PushKind::Message => match (payload(push.data), &*sender) {
                (Some(payload), Some(queue)) => {
                    queue.try_send(payload).err().map(|_| "messages came faster than they could be heard")
                }
                _ => None,
            },
            PushKind::Disconnection => Some("the connection was closed"),
            PushKind::Unsubscribe => Some("the subscription was ended"),
            _ => None,
        };
        if let Some(reason) = end {
            ended.get_or_init(|| reason);
            *sender = None;
        }
        Ok(())
    }
}

/// The payload of a message, which comes after its channel.
fn payload(data: Vec<Value>) -> Option<Bytes> {
    match data.into_iter().nth(1) {
        Some(Value::BulkString(payload)) => Some(payload.into()),
        _ => None,
    }
}

impl Outgoing for Publishing {
    async fn publish(&self, payloads: Vec<Bytes>) -> Result<(), BoxError> {
        let mut pipeline = redis::pipe();
        for payload in &payloads {
            pipeline.cmd("PUBLISH").arg(&self.channel).arg(&payload[..]).ignore();
        }
        pipeline.query_async::<()>(&mut self.connection.clone()).await?;
        Ok(())
    }
}

impl Incoming for Subscribed {
    async fn next(&mut self) -> Result<Bytes, BoxError> {
        let message = self.messages.recv().await;
        message.ok_or_else(|| self.ended.get().copied().unwrap_or("the connection was closed").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> PushInfo {
        let data = ["channel", text].map(|part| Value::BulkString(part.into()));
        PushInfo { kind: PushKind::Message, data: data.into() }
    }

    fn subscribed() -> (impl Fn(PushInfo), Subscribed) {
        let (sender, messages) = mpsc::channel(2);
        let ended = Arc::default();
        let pushes = pushes(sender, Arc::clone(&ended));
        (move |push| pushes(push).unwrap(), Subscribed { messages, ended })
    }

    async fn rest(mut subscribed: Subscribed) -> (usize, String) {
        for count in 0.. {
            if let Err(error) = subscribed.next().await {
                return (count, error.to_string());
            }
        }
        unreachable!("it ends")
    }

    #[tokio::test]
    async fn a_queue_that_runs_over_ends_the_subscription_even_if_there_is_room_again() {
        let (push, mut subscribed) = subscribed();
        ["1", "2", "3"].into_iter().for_each(|text| push(message(text)));
        assert_eq!(subscribed.next().await.unwrap(), "1");
        push(message("4"));
        assert_eq!(rest(subscribed).await, (1, "messages came faster than they could be heard".into()));
    }

    #[tokio::test]
    async fn what_came_before_the_end_is_heard() {
        let (push, subscribed) = subscribed();
        push(message("1"));
        push(PushInfo { kind: PushKind::Disconnection, data: Vec::new() });
        assert_eq!(rest(subscribed).await, (1, "the connection was closed".into()));
    }
}
