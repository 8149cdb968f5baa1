//! Over Redis.

use mcp_runtime::subscription::{Change, ChangePublisher as _, FleetError, RedisPublisher};
use mcp_tests::eventually;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    broker::{Broker, Kind},
    server::{Server, part, quick},
};

crate::for_broker!(RedisPublisher);

/// Redis ends a connection whose output buffer runs over in the same way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_thrown_out_is_told_everything() {
    let Some(broker) = Broker::start(Kind::Redis).await else { return };
    let a = Server::<RedisPublisher>::connected(&broker.url(), quick()).await;
    let b = Server::<RedisPublisher>::connected(&broker.url(), quick()).await;
    let address = broker.url().replace("redis://", "");
    let mut console = TcpStream::connect(&address).await.expect("a connection");
    console.write_all(b"CLIENT KILL TYPE pubsub\r\n").await.expect("it is written");
    let mut reply = [0; 4];
    console.read_exact(&mut reply).await.expect("a reply");
    assert_eq!(&reply, b":2\r\n");
    a.publisher.publish(&part(1)).expect("it is told");
    a.hears(&Change::Everything).await;
    b.hears(&Change::Everything).await;
    eventually("all is confirmed", || a.publisher.status().pending == 0).await;
    assert_eq!((a.publisher.status().gaps, b.publisher.status().gaps), (2, 2));
}

/// What the subscription of another program on the same channel is told is none of ours, and the other way round.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anybody_may_publish_what_is_documented() {
    let Some(broker) = Broker::start(Kind::Redis).await else { return };
    let a = Server::<RedisPublisher>::connected(&broker.url(), quick()).await;
    let mut console = TcpStream::connect(broker.url().replace("redis://", "")).await.expect("a connection");
    let messages = [
        r"hello",
        r#"{\"v\":1,\"from\":\"a script\",\"n\":0,\"change\":\"resource\",\"uri\":\"catalog://parts/1\"}"#,
        r#"{\"v\":2,\"from\":\"the future\"}"#,
    ];
    for message in messages {
        let command = format!("PUBLISH mcp.changes \"{message}\"\r\n");
        console.write_all(command.as_bytes()).await.expect("it is written");
    }
    eventually("both are heard", || a.publisher.status().received == 2).await;
    eventually("both are told", || a.count() == 2).await;
    assert_eq!(a.heard(), [part(1), Change::Everything]);
}

#[tokio::test]
async fn what_is_no_address_is_refused_at_once() {
    // The last one wants TLS, which is not built in.
    for address in ["127.0.0.1", "http://127.0.0.1", "rediss://127.0.0.1"] {
        let refused = RedisPublisher::connect_lazy(address, quick());
        assert!(matches!(refused, Err(FleetError::Address(_))), "{address}: {refused:?}");
    }
}
