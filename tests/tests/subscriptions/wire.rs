//! Streams over sockets, read by clients of HTTP.

use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, client::conn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_runtime::{
    prelude::*,
    server::ServerBuilder,
    subscription::{EndReason, InMemoryPublisher, allow_all},
};
use mcp_tests::{Event, Events, Message, Served, eventually};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use super::builder;

fn listen() -> Message {
    Message::listen(json!({ "resourceSubscriptions": ["note://1"] })).id("l")
}

fn publishing(publisher: &InMemoryPublisher) -> ServerBuilder {
    builder().publisher(publisher.clone()).subscription_authorizer(allow_all())
}

/// A response as hyper reads it.
struct Body {
    body: Incoming,
    events: Events,
    frames: usize,
}

impl Body {
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(event) = self.events.next() {
                return event.into_message();
            }
            let frame = self.body.frame().await?.expect("it is not cut off");
            let data = frame.into_data().expect("no trailers");
            self.frames += usize::from(!data.is_empty());
            self.events.push(&data);
        }
    }
}

async fn open(served: &Served, http2: bool) -> Body {
    let io = TokioIo::new(TcpStream::connect(served.address()).await.expect("it listens"));
    let request: Request<Full<bytes::Bytes>> = listen().to_request();
    let response = if http2 {
        let (mut sender, connection) =
            conn::http2::handshake(TokioExecutor::new(), io).await.expect("HTTP/2");
        tokio::spawn(connection);
        let (mut head, body) = request.into_parts();
        head.uri = format!("http://{}/mcp", served.address()).parse().expect("a URI");
        head.headers.remove("host");
        sender.send_request(Request::from_parts(head, body)).await
    } else {
        let (mut sender, connection) = conn::http1::handshake(io).await.expect("HTTP/1.1");
        tokio::spawn(connection);
        sender.send_request(request).await
    };
    let response = response.expect("a response");
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert!(!response.headers().contains_key("content-length"));
    Body { body: response.into_body(), events: Events::default(), frames: 0 }
}

#[tokio::test]
async fn a_client_of_http_reads_the_result_and_then_the_end_of_the_body() {
    for http2 in [false, true] {
        let publisher = InMemoryPublisher::new();
        let served = Served::start(publishing(&publisher)).await;
        let mut body = open(&served, http2).await;
        assert_eq!(body.next().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
        for _ in 0..3 {
            publisher.resource_updated("note://1").unwrap();
            assert_eq!(body.next().await.unwrap()["params"]["uri"], "note://1");
        }
        let handle = served.handle();
        let ending = tokio::spawn(async move { handle.shutdown().await });
        let result = body.next().await.unwrap();
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": "l" });
        assert_eq!(
            result,
            json!({ "jsonrpc": "2.0", "id": "l", "result": { "resultType": "complete", "_meta": meta } })
        );
        let frames = body.frames;
        assert_eq!(body.next().await, None);
        assert_eq!(body.frames, frames, "nothing after the result");
        assert!(body.events.is_complete());
        let report = ending.await.unwrap();
        assert!(report.is_graceful(), "{report:?}");
        assert_eq!((report.subscriptions, report.subscriptions_cut), (1, 0));
        assert!(served.ended().await.is_ok());
    }
}

#[tokio::test]
async fn a_client_that_closes_its_connection_ends_its_stream() {
    for http2 in [false, true] {
        let publisher = InMemoryPublisher::new();
        let served = Served::start(publishing(&publisher)).await;
        let mut body = open(&served, http2).await;
        body.next().await.unwrap();
        assert_eq!(served.subscriptions().open(), 1);
        drop(body);
        eventually("it is gone", || served.subscriptions().open() == 0).await;
        assert_eq!(served.subscriptions().ended(EndReason::ClientGone), 1);
    }
}

#[tokio::test]
async fn a_body_in_chunks_ends_after_the_result_and_the_connection_as_its_head_says() {
    let guard = super::Guard::new();
    guard.rule(|check| match check.is_first() {
        true => super::guard::Verdict::lasting(std::time::Duration::from_millis(20)),
        false => super::guard::Verdict::Deny,
    });
    let served = Served::start(builder().subscription_authorizer(guard)).await;
    let mut connection = served.connect().await;
    // Other requests may come before on the same connection.
    connection.send(&Message::request("tools/list")).await;
    assert_eq!(connection.reply().await.status, 200);
    connection.send(&listen()).await;
    let head = connection.head().await;
    assert_eq!((head.status, head.header("transfer-encoding")), (200, Some("chunked")));
    let mut messages = Vec::new();
    while let Some(event) = connection.event().await {
        messages.extend(event.into_message());
    }
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(messages[1]["result"]["resultType"], "complete");
    if head.header("connection") == Some("close") {
        assert!(connection.is_closed().await);
    } else {
        connection.send(&listen()).await;
        assert_eq!(connection.head().await.status, 200);
    }
}

#[tokio::test]
async fn a_client_that_says_more_after_its_request_hears_its_stream_all_the_same() {
    let publisher = InMemoryPublisher::new();
    let served = Served::start(publishing(&publisher)).await;
    let mut connection = served.connect().await;
    connection.send(&listen()).await;
    connection.head().await;
    connection.event().await.unwrap();
    for _ in 0..3 {
        connection.write(b"what?").await;
        publisher.resource_updated("note://1").unwrap();
        let event = connection.event().await.unwrap().into_message().unwrap();
        assert_eq!(event["params"]["uri"], "note://1");
    }
    connection.finish().await;
    eventually("who says no more has gone", || served.subscriptions().open() == 0).await;
}

#[tokio::test]
async fn many_streams_share_a_connection_of_http2() {
    let publisher = InMemoryPublisher::new();
    let served = Served::start(publishing(&publisher)).await;
    let io = TokioIo::new(TcpStream::connect(served.address()).await.unwrap());
    let (sender, connection) = conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    let mut bodies = Vec::new();
    for _ in 0..20 {
        let (mut head, body) = listen().to_request().into_parts();
        head.uri = format!("http://{}/mcp", served.address()).parse().unwrap();
        head.headers.remove("host");
        let response = sender.clone().send_request(Request::from_parts(head, body)).await.unwrap();
        bodies.push(Body { body: response.into_body(), events: Events::default(), frames: 0 });
    }
    for body in &mut bodies {
        body.next().await.unwrap();
    }
    publisher.resource_updated("note://1").unwrap();
    drop(bodies.split_off(10));
    for body in &mut bodies {
        assert_eq!(body.next().await.unwrap()["params"]["uri"], "note://1");
    }
    eventually("half of them are gone", || served.subscriptions().open() == 10).await;
}

#[tokio::test]
async fn a_listen_that_shares_its_connection_with_nothing_sees_comments_of_a_real_clock() {
    let builder = builder().subscription_authorizer(allow_all());
    let served = Served::start(builder.keep_alive(std::time::Duration::from_millis(20))).await;
    let mut connection = served.connect().await;
    connection.send(&listen()).await;
    connection.head().await;
    assert!(matches!(connection.event().await, Some(Event::Message(_))));
    for _ in 0..3 {
        assert_eq!(connection.event().await, Some(Event::Comment));
    }
}

#[tokio::test]
async fn streams_are_opened_by_post_alone() {
    let served = Served::start(builder().subscription_authorizer(allow_all())).await;
    for verb in ["GET", "DELETE"] {
        let reply = served.send(&listen().verb(verb).header("last-event-id", "7")).await;
        assert_eq!(reply.status, 405);
        assert_eq!(reply.header("allow"), Some("POST"));
    }
    assert_eq!(served.subscriptions().open(), 0);
}
