//! How streams end, and what keeps them alive until then.

use std::time::Duration;

use mcp_runtime::{
    subscription::{EndReason, InMemoryPublisher, allow_all},
    testing::Heard,
};
use mcp_tests::{Event, Local, Message, seconds};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::{
    Guard, assert_over, assert_silent, builder, built,
    guard::{Trusting, Verdict},
    guarded, heard, listening, open_server, refused,
};
use mcp_runtime::prelude::ChangePublisher;

fn listen() -> Message {
    Message::listen(json!({ "toolsListChanged": true, "resourceSubscriptions": ["note://1"] })).id("l-1")
}

fn result() -> Value {
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": "l-1" });
    json!({ "jsonrpc": "2.0", "id": "l-1", "result": { "resultType": "complete", "_meta": meta } })
}

#[tokio::test(start_paused = true)]
async fn every_reason_is_counted_and_shown_and_none_is_on_the_wire() {
    use EndReason::{
        Capacity, CheckFailed, ClientGone, Denied, Expired, Internal, Lifetime, ShuttingDown, Stalled,
    };
    let (server, client, guard) =
        guarded(|builder| builder.max_listen_streams(1).listen_lifetime(seconds(200)));
    for (reason, verdict) in [
        (Denied, Verdict::Deny),
        (CheckFailed, Verdict::Fail),
        (Expired, Verdict::lasting(Duration::from_millis(10))),
    ] {
        guard.renews(seconds(20), verdict);
        let mut stream = listening(&client, "note://1").await;
        assert_eq!(stream.end_reason(), None);
        assert_eq!(stream.next().await, None);
        assert_eq!(stream.end_reason(), Some(reason));
        let result = stream.result().unwrap();
        assert_eq!(result["resultType"], "complete");
        assert_eq!(result.as_object().unwrap().len(), 2, "nothing but its tag: {result}");
        assert_eq!(result["_meta"].as_object().unwrap().len(), 1, "{result}");
    }
    guard.says(Verdict::lasting(seconds(60)));
    let mut stream = listening(&client, "note://1").await;
    assert_eq!(refused(client.listen().tools().await), -32603);
    let opened = Instant::now();
    assert_eq!(stream.next().await, None);
    assert_eq!((stream.end_reason(), opened.elapsed()), (Some(Lifetime), seconds(200)));
    drop(stream);

    let stalled = listening(&client, "note://1").await;
    server.publisher().resource_updated("note://1").unwrap();
    sleep(seconds(31)).await;
    assert_eq!(stalled.end_reason(), Some(Stalled));
    drop(stalled);

    drop(listening(&client, "note://1").await);
    let mut stream = listening(&client, "note://1").await;
    let handle = server.handle();
    let ending = tokio::spawn(async move { handle.shutdown().await });
    assert_eq!(stream.next().await, None);
    assert_eq!(stream.end_reason(), Some(ShuttingDown));
    assert!(ending.await.unwrap().is_graceful());
    for (reason, expected) in EndReason::ALL.into_iter().zip([1, 1, 1, 1, 1, 1, 1, 1, 0]) {
        assert_eq!(server.subscriptions().ended(reason), expected, "{reason:?}");
    }
    let named =
        [ClientGone, Denied, Expired, CheckFailed, Lifetime, Stalled, Capacity, ShuttingDown, Internal];
    assert_eq!(named, EndReason::ALL);
    assert_eq!(server.subscriptions().open(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_end_drops_what_is_queued_and_keeps_the_unsent_acknowledgement() {
    let (publisher, guard) = (InMemoryPublisher::new(), Guard::new());
    guard.renews(seconds(20), Verdict::Deny);
    let builder = builder().publisher(publisher.clone()).subscription_authorizer(guard).admission(Trusting);
    let local = Local::guarded(builder);
    for acknowledged in [false, true] {
        let mut stream = local.open(&listen()).await;
        if acknowledged {
            stream.next().await.unwrap();
        }
        sleep(seconds(5)).await;
        publisher.tools_changed().unwrap();
        publisher.resource_updated("note://1").unwrap();
        // Too soon to be a stall.
        sleep(seconds(16)).await;
        let mut rest = Vec::new();
        while let Some(event) = stream.next().await {
            rest.extend(event.into_message());
        }
        assert_eq!(rest.pop(), Some(result()));
        assert_eq!(rest.len(), usize::from(!acknowledged), "{rest:?}");
        assert!(rest.iter().all(|message| message["method"] == "notifications/subscriptions/acknowledged"));
        assert_eq!(stream.next().await, None);
    }
    assert_eq!(local.subscriptions().ended(EndReason::Denied), 2);
}

#[tokio::test(start_paused = true)]
async fn an_end_that_nobody_reads_keeps_its_reason() {
    let (server, client, guard) = guarded(|builder| builder);
    guard.renews(seconds(20), Verdict::Deny);
    let gone = listening(&client, "note://1").await;
    let stalled = listening(&client, "note://1").await;
    sleep(seconds(20)).await;
    assert_eq!(server.subscriptions().open(), 2);
    drop(gone);
    assert_eq!(server.subscriptions().open(), 1);
    sleep(seconds(30)).await;
    assert_eq!(server.subscriptions().open(), 0);
    assert_eq!(stalled.end_reason(), Some(EndReason::Denied));
    assert_eq!(server.subscriptions().ended(EndReason::Denied), 2);
}

#[tokio::test(start_paused = true)]
async fn a_day_is_the_longest_by_default() {
    let (server, client) = open_server();
    let mut stream = listening(&client, "note://1").await;
    let opened = Instant::now();
    sleep(seconds(24 * 3600 - 1)).await;
    server.publisher().resource_updated("note://1").unwrap();
    assert_eq!(heard(&mut stream).await, Heard::resource("note://1"));
    assert_eq!(stream.next().await, None);
    assert_eq!((opened.elapsed(), stream.end_reason()), (seconds(24 * 3600), Some(EndReason::Lifetime)));
    assert_over(&mut stream).await;
}

#[tokio::test(start_paused = true)]
async fn renewals_do_not_extend_the_lifetime() {
    let (_server, client, guard) = guarded(|builder| builder.listen_lifetime(seconds(100)));
    guard.says(Verdict::lasting(seconds(30)));
    let mut stream = listening(&client, "note://1").await;
    let opened = Instant::now();
    assert_eq!(stream.next().await, None);
    assert_eq!((opened.elapsed(), stream.end_reason()), (seconds(100), Some(EndReason::Lifetime)));
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_is_kept_alive_by_comments_and_a_busy_one_by_itself() {
    let publisher = InMemoryPublisher::new();
    let builder = builder().publisher(publisher.clone()).subscription_authorizer(allow_all());
    let local = Local::new(builder);
    let mut stream = local.open(&listen()).await;
    assert!(stream.chunk().await.unwrap().starts_with(b"data: {"));
    let began = Instant::now();
    for round in 1..=4 {
        assert_eq!(stream.chunk().await.unwrap(), b":\n\n");
        assert_eq!(began.elapsed(), seconds(15) * round);
    }
    sleep(seconds(10)).await;
    publisher.tools_changed().unwrap();
    assert!(stream.chunk().await.unwrap().starts_with(b"data: {"));
    assert_eq!(began.elapsed(), seconds(70));
    assert_eq!(stream.chunk().await.unwrap(), b":\n\n");
    assert_eq!(began.elapsed(), seconds(85), "since something was last said");
}

#[tokio::test(start_paused = true)]
async fn comments_come_as_often_as_is_set_or_never() {
    for every in [Some(seconds(2)), None] {
        let local = Local::new(builder().subscription_authorizer(allow_all()).keep_alive(every));
        let mut stream = local.open(&listen()).await;
        stream.next().await.unwrap();
        let mut comments = 0;
        let listening = async {
            while let Some(event) = stream.next().await {
                assert_eq!(event, Event::Comment);
                comments += 1;
            }
        };
        assert!(timeout(seconds(3601), listening).await.is_err());
        assert_eq!(comments, if every.is_some() { 1800 } else { 0 });
        assert_eq!(local.subscriptions().open(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn events_have_data_and_nothing_else_and_nothing_is_resumed() {
    let publisher = InMemoryPublisher::new();
    let local = Local::new(builder().publisher(publisher.clone()).subscription_authorizer(allow_all()));
    let mut first = local.open(&listen()).await;
    first.next().await.unwrap();
    drop(first);
    publisher.tools_changed().unwrap();
    let mut stream = local.open(&listen().header("last-event-id", "1")).await;
    let mut body = stream.chunk().await.unwrap();
    publisher.resource_updated("note://1").unwrap();
    publisher.tools_changed().unwrap();
    body.extend(stream.chunk().await.unwrap());
    body.extend(stream.chunk().await.unwrap());
    let text = String::from_utf8(body).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines.iter().all(|line| line.starts_with("data: {") || *line == ":"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn ending_one_stream_leaves_the_others() {
    let (server, client) = built(builder().subscription_authorizer(allow_all()));
    let mut streams = Vec::new();
    for id in 0..3 {
        streams.push(listening(&client, &format!("note://{id}")).await);
    }
    drop(streams.remove(1));
    for id in [0, 1, 2] {
        server.publisher().resource_updated(&format!("note://{id}")).unwrap();
    }
    assert_eq!(heard(&mut streams[0]).await, Heard::resource("note://0"));
    assert_eq!(heard(&mut streams[1]).await, Heard::resource("note://2"));
    for stream in &mut streams {
        assert_silent(stream).await;
    }
}
