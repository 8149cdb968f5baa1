//! What is told, in which order, and to whom.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use mcp_runtime::{
    prelude::*,
    subscription::{Change, ChangeListener, InMemoryPublisher, PublishError, Registration, allow_all},
    testing::Heard,
};
use mcp_tests::{Local, Message};
use serde_json::{Value, json};

use super::{Client, assert_silent, builder, built, heard, listening, open_server};

const TAG: &str = "io.modelcontextprotocol/subscriptionId";

#[tokio::test(start_paused = true)]
async fn the_acknowledgement_is_first_and_carries_the_exact_id_as_all_messages_do() {
    let publisher = InMemoryPublisher::new();
    let local = Local::new(builder().publisher(publisher.clone()).subscription_authorizer(allow_all()));
    for id in
        [json!(7), json!("7"), json!(-7), json!(9_007_199_254_740_991_u64), json!(""), json!("a\"\u{1F600}")]
    {
        let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["note://1"] });
        let mut stream = local.open(&Message::listen(filter.clone()).id(id.clone())).await;
        assert_eq!(
            (stream.status, &stream.headers["content-type"]),
            (200, &"text/event-stream".parse().unwrap())
        );
        let mut next = async || stream.next().await.unwrap().into_message().unwrap();
        let tag = json!({ TAG: id });
        let message =
            |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": method, "params": params });
        assert_eq!(
            next().await,
            message(
                "notifications/subscriptions/acknowledged",
                json!({ "_meta": tag, "notifications": filter })
            )
        );
        publisher.resource_updated("note://1").unwrap();
        publisher.tools_changed().unwrap();
        let updated = json!({ "_meta": tag, "uri": "note://1" });
        assert_eq!(next().await, message("notifications/resources/updated", updated));
        assert_eq!(next().await, message("notifications/tools/list_changed", json!({ "_meta": tag })));
    }
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_no_string_and_no_integer_or_is_huge_opens_nothing() {
    let local = Local::new(builder().subscription_authorizer(allow_all()));
    for (id, code) in [(json!(null), -32600), (json!(1.5), -32600), (json!("x".repeat(1100)), -32602)] {
        let reply = local.send(&Message::listen(json!({})).id(id)).await;
        assert_eq!(reply.refusal(), (400, code));
    }
    assert_eq!(local.subscriptions().open(), 0);
}

#[tokio::test(start_paused = true)]
async fn equal_ids_on_two_requests_are_two_streams() {
    let (server, client) = open_server();
    let mut first = client.listen().resource("note://1").id(5).await.unwrap();
    let mut second = client.listen().resource("note://2").id(5).await.unwrap();
    assert_eq!(server.subscriptions().open(), 2);
    server.publisher().resource_updated("note://2").unwrap();
    assert_eq!(heard(&mut second).await, Heard::resource("note://2"));
    assert_silent(&mut first).await;
    drop(second);
    server.publisher().resource_updated("note://1").unwrap();
    assert_eq!(heard(&mut first).await, Heard::resource("note://1"));
}

#[tokio::test(start_paused = true)]
async fn only_what_was_acknowledged_is_told() {
    let (server, client) = open_server();
    let publisher = server.publisher();
    let tell_all = || {
        publisher.tools_changed().unwrap();
        publisher.prompts_changed().unwrap();
        publisher.resources_changed().unwrap();
        publisher.resource_updated("note://1").unwrap();
        publisher.resource_updated("note://2").unwrap();
    };
    let mut tools = client.listen().tools().await.unwrap();
    let mut prompts = client.listen().prompts().await.unwrap();
    let mut resources = client.listen().resources().await.unwrap();
    let mut one = listening(&client, "note://1").await;
    let mut nothing = client.listen().resource("nobody://serves").await.unwrap();
    tell_all();
    for (listening, expected) in [
        (&mut tools, Heard::Tools),
        (&mut prompts, Heard::Prompts),
        (&mut resources, Heard::Resources),
        (&mut one, Heard::resource("note://1")),
    ] {
        assert_eq!(heard(listening).await, expected);
        assert_silent(listening).await;
    }
    publisher.resource_updated("nobody://serves").unwrap();
    assert_silent(&mut nothing).await;
}

#[tokio::test(start_paused = true)]
async fn what_changed_before_the_acknowledgement_is_not_told() {
    let publisher = InMemoryPublisher::new();
    let local = Local::new(builder().publisher(publisher.clone()).subscription_authorizer(allow_all()));
    publisher.resource_updated("note://1").unwrap();
    let mut stream = local.open(&Message::listen(json!({ "resourceSubscriptions": ["note://1"] }))).await;
    // Open, and not acknowledged before its body is read.
    assert_eq!(local.subscriptions().open(), 1);
    publisher.resource_updated("note://1").unwrap();
    let mut next = async || tokio::time::timeout(mcp_tests::seconds(1), stream.next()).await;
    let acknowledged = next().await.unwrap().unwrap().into_message().unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert!(next().await.is_err(), "replayed");
    publisher.resource_updated("note://1").unwrap();
    assert!(next().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn changes_are_told_once_each_in_the_order_of_their_first() {
    let (server, client) = open_server();
    let publisher = server.publisher();
    let listen = client.listen().tools().prompts().resource("note://a").resource("note://b");
    let mut listening = listen.await.unwrap();
    for _ in 0..3 {
        publisher.resource_updated("note://b").unwrap();
        publisher.prompts_changed().unwrap();
        publisher.resource_updated("note://a").unwrap();
        publisher.resource_updated("note://b").unwrap();
        publisher.tools_changed().unwrap();
    }
    for expected in [Heard::resource("note://b"), Heard::Prompts, Heard::resource("note://a"), Heard::Tools] {
        assert_eq!(heard(&mut listening).await, expected);
    }
    assert_silent(&mut listening).await;
    publisher.tools_changed().unwrap();
    assert_eq!(heard(&mut listening).await, Heard::Tools, "what was told can change again");
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_of_many_large_keys_gets_each_and_those_that_change_again_last() {
    let (server, client) = open_server();
    let publisher = server.publisher();
    let uri = |id: usize| format!("note://{id}{}", "x".repeat(4000));
    let uris: Vec<String> = (0..200).map(uri).collect();
    let mut listening = client.listen().filter("resourceSubscriptions", uris.clone()).await.unwrap();
    uris.iter().rev().for_each(|uri| publisher.resource_updated(uri).unwrap());
    assert_eq!(heard(&mut listening).await, Heard::resource(&*uris[199]));
    // That one was written, and the other was not.
    publisher.resource_updated(&uris[199]).unwrap();
    publisher.resource_updated(&uris[0]).unwrap();
    for uri in uris.iter().rev().skip(1).chain([&uris[199]]) {
        assert_eq!(heard(&mut listening).await, Heard::resource(uri.as_str()));
    }
    assert_silent(&mut listening).await;
}

#[tokio::test(start_paused = true)]
async fn a_publisher_that_was_cut_off_marks_everything_once() {
    let (server, client) = open_server();
    let mut listening = client.listen().tools().resource("note://a").resource("note://b").await.unwrap();
    let mut prompts = client.listen().prompts().await.unwrap();
    server.publisher().resource_updated("note://b").unwrap();
    server.publisher().publish(&Change::Everything).unwrap();
    for expected in [Heard::resource("note://b"), Heard::Tools, Heard::resource("note://a")] {
        assert_eq!(heard(&mut listening).await, expected);
    }
    assert_silent(&mut listening).await;
    assert_eq!(heard(&mut prompts).await, Heard::Prompts);
    assert_silent(&mut prompts).await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_publishes_by_injection_and_hears_of_its_own_mistake() {
    let (_server, client) = open_server();
    let mut listening = listening(&client, "note://7").await;
    assert_eq!(client.call("touch").arg("uri", "note://7").await.unwrap().text(), "told");
    assert_eq!(heard(&mut listening).await, Heard::resource("note://7"));
    let failed = client.call("touch").arg("uri", "7.txt").await.unwrap();
    assert!(failed.is_error() && failed.text().contains("not an absolute URI"), "{failed:?}");
    assert_silent(&mut listening).await;
}

#[tokio::test(start_paused = true)]
async fn a_thread_without_a_runtime_publishes() {
    let (server, client) = open_server();
    let mut listening = listening(&client, "note://7").await;
    let publisher = server.publisher();
    std::thread::spawn(move || publisher.resource_updated("note://7").unwrap()).join().unwrap();
    assert_eq!(heard(&mut listening).await, Heard::resource("note://7"));
}

#[tokio::test(start_paused = true)]
async fn a_change_reaches_all_endpoints_that_are_concerned() {
    let tool = Tool::new("t").handler(async || "t");
    let other =
        Endpoint::builder("/other").name("other").version("1").tool(tool).changes([ChangeKind::Tools]);
    let server = builder().endpoint(other).subscription_authorizer(allow_all()).build().unwrap();
    let mut here = Client::at(&server, "/mcp").listen().tools().resource("note://1").await.unwrap();
    let mut there = Client::at(&server, "/other").listen().tools().resource("note://1").await.unwrap();
    assert_eq!(*there.acknowledged(), json!({ "toolsListChanged": true }));
    server.publisher().resource_updated("note://1").unwrap();
    server.publisher().tools_changed().unwrap();
    assert_eq!(heard(&mut here).await, Heard::resource("note://1"));
    assert_eq!(heard(&mut here).await, Heard::Tools);
    assert_eq!(heard(&mut there).await, Heard::Tools);
    assert_silent(&mut there).await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_may_listen_to_nothing() {
    let (server, client) = open_server();
    let mut listening = client.listen().await.unwrap();
    assert_eq!(*listening.acknowledged(), json!({}));
    server.publisher().publish(&Change::Everything).unwrap();
    assert_silent(&mut listening).await;
    assert_eq!(server.subscriptions().open(), 1);
}

/// Whoever implements the SPI is called in this order.
#[derive(Default)]
struct Bus {
    listeners: Mutex<Vec<Arc<dyn ChangeListener>>>,
    closed: Arc<AtomicUsize>,
}

impl ChangePublisher for Bus {
    fn subscribe(&self, listener: Arc<dyn ChangeListener>) -> Registration {
        self.listeners.lock().expect("no panic").push(listener);
        let closed = Arc::clone(&self.closed);
        Registration::new(move || {
            closed.fetch_add(1, SeqCst);
        })
    }

    fn publish(&self, change: &Change) -> Result<(), PublishError> {
        if *change == Change::Prompts {
            return Err(PublishError::Unavailable("the bus has left".into()));
        }
        let listeners = self.listeners.lock().expect("no panic").clone();
        listeners.iter().for_each(|listener| listener.changed(change).expect("a server does not fail"));
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_publisher_of_ones_own_has_one_listener_a_server_which_is_closed_at_shutdown() {
    let bus = Arc::new(Bus::default());
    let build = || built(builder().publisher(Arc::clone(&bus)).subscription_authorizer(allow_all()));
    let ((first, one), (second, two)) = (build(), build());
    assert_eq!(bus.listeners.lock().unwrap().len(), 2);
    let (mut one, mut two) = (one.listen().tools().await.unwrap(), two.listen().tools().await.unwrap());
    first.publisher().tools_changed().unwrap();
    assert_eq!((heard(&mut one).await, heard(&mut two).await), (Heard::Tools, Heard::Tools));
    let error = second.publisher().prompts_changed().unwrap_err();
    assert_eq!(error.to_string(), "the change can't be passed on: the bus has left");
    drop(one);
    assert!(first.handle().shutdown().await.is_graceful());
    assert_eq!(bus.closed.load(SeqCst), 1);
    bus.tools_changed().unwrap();
    assert_eq!(heard(&mut two).await, Heard::Tools, "the publisher stays the application's");
    drop((second, two));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_dropped_without_shutdown_listens_no_more() {
    let publisher = InMemoryPublisher::new();
    let build = || built(builder().publisher(publisher.clone()).subscription_authorizer(allow_all()));
    let (server, client) = build();
    assert_eq!(publisher.listeners(), 1);
    let listening = client.listen().tools().await.unwrap();
    drop((server, client, listening));
    // The keeper of its streams notices in its own time.
    mcp_tests::eventually("it has left", || publisher.listeners() == 0).await;
    drop(build());
    assert_eq!(publisher.listeners(), 0);
}
