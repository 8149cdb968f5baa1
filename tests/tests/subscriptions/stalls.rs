//! Clients that do not read.

use mcp_runtime::{
    prelude::*,
    subscription::{EndReason, InMemoryPublisher, allow_all},
    testing::Heard,
};
use mcp_tests::{Event, Local, Message, Served, seconds};
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use super::{assert_silent, builder, heard, listening, open_server};

#[tokio::test(start_paused = true)]
async fn who_reads_nothing_for_write_timeout_loses_the_stream_and_nobody_else_does() {
    let (server, client) = open_server();
    let mut stalled = listening(&client, "note://1").await;
    let mut idle = listening(&client, "note://2").await;
    let mut reading = listening(&client, "note://1").await;
    sleep(seconds(100)).await;
    server.publisher().resource_updated("note://1").unwrap();
    assert_eq!(heard(&mut reading).await, Heard::resource("note://1"));
    sleep(seconds(30) - std::time::Duration::from_millis(1)).await;
    assert_eq!((stalled.end_reason(), server.subscriptions().open()), (None, 3));
    sleep(std::time::Duration::from_millis(2)).await;
    assert_eq!(stalled.end_reason(), Some(EndReason::Stalled));
    assert_eq!((server.subscriptions().open(), server.subscriptions().ended(EndReason::Stalled)), (2, 1));
    assert_eq!((stalled.next().await, stalled.result()), (None, None), "nobody was there to read a result");
    server.publisher().resource_updated("note://1").unwrap();
    server.publisher().resource_updated("note://2").unwrap();
    assert_eq!(heard(&mut reading).await, Heard::resource("note://1"));
    assert_eq!(heard(&mut idle).await, Heard::resource("note://2"), "who has nothing to read is not stalled");
}

#[tokio::test(start_paused = true)]
async fn who_reads_again_in_time_hears_of_the_last_change_of_everything() {
    let (server, client) = open_server();
    let mut slow = client.listen().tools().resource("note://1").resource("note://2").await.unwrap();
    for _ in 0..100 {
        for _ in 0..29 {
            server.publisher().resource_updated("note://2").unwrap();
            server.publisher().resource_updated("note://1").unwrap();
            sleep(seconds(1)).await;
        }
        server.publisher().tools_changed().unwrap();
        for expected in [Heard::resource("note://2"), Heard::resource("note://1"), Heard::Tools] {
            assert_eq!(heard(&mut slow).await, expected);
        }
    }
    assert_silent(&mut slow).await;
}

#[tokio::test(start_paused = true)]
async fn a_response_whose_acknowledgement_nobody_takes_ends_as_well() {
    let local = Local::new(builder().subscription_authorizer(allow_all()));
    let mut stream = local.open(&Message::listen(json!({ "toolsListChanged": true }))).await;
    sleep(seconds(29)).await;
    assert_eq!(local.subscriptions().open(), 1);
    sleep(seconds(2)).await;
    assert_eq!(local.subscriptions().open(), 0);
    assert_eq!(local.subscriptions().ended(EndReason::Stalled), 1);
    assert_eq!(stream.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_comment_that_nobody_takes_finds_who_has_stalled() {
    let local = Local::new(builder().subscription_authorizer(allow_all()));
    let mut stream = local.open(&Message::listen(json!({ "toolsListChanged": true }))).await;
    stream.next().await.unwrap();
    sleep(seconds(44)).await;
    assert_eq!(local.subscriptions().open(), 1);
    sleep(seconds(2)).await;
    assert_eq!(local.subscriptions().ended(EndReason::Stalled), 1, "15 s to the comment, and 30 more");
    drop(stream);
}

#[tokio::test(start_paused = true)]
async fn the_patience_can_be_set() {
    let builder = builder().subscription_authorizer(allow_all());
    let (server, client) = super::built(builder.write_timeout(seconds(3)).keep_alive(seconds(1)));
    let stalled = listening(&client, "note://1").await;
    server.publisher().resource_updated("note://1").unwrap();
    sleep(seconds(2)).await;
    assert_eq!(stalled.end_reason(), None);
    sleep(seconds(2)).await;
    assert_eq!(stalled.end_reason(), Some(EndReason::Stalled));
}

#[tokio::test(start_paused = true)]
async fn a_stalled_socket_is_closed_and_others_hear_at_once() {
    const RESOURCES: usize = 200;
    let publisher = InMemoryPublisher::new();
    let served =
        Served::in_memory(builder().publisher(publisher.clone()).subscription_authorizer(allow_all()));
    let uri = |id: usize| format!("note://{id}{}", "x".repeat(4000));
    let uris: Vec<String> = (0..RESOURCES).map(uri).collect();
    let listen = Message::listen(json!({ "resourceSubscriptions": uris }));
    let mut stalled = served.connect_with_buffer(64 << 10);
    let mut reading = served.connect_with_buffer(64 << 10);
    for connection in [&mut stalled, &mut reading] {
        connection.send(&listen).await;
        assert_eq!(connection.head().await.status, 200);
        connection.event().await.unwrap();
    }
    let began = Instant::now();
    for round in 0..10 {
        uris.iter().for_each(|uri| publisher.resource_updated(uri).unwrap());
        for _ in 0..RESOURCES {
            let event = timeout(seconds(1), reading.event()).await.expect("it is not delayed").unwrap();
            assert!(matches!(event, Event::Message(_)), "{round}");
        }
        assert_eq!(began.elapsed(), seconds(2) * round, "others take no time");
        sleep(seconds(2)).await;
    }
    assert_eq!(served.subscriptions().open(), 2);
    let open = || served.subscriptions().open();
    let reading = tokio::spawn(async move { while reading.event().await.is_some() {} });
    mcp_tests::eventually("the stalled one is gone", || open() == 1).await;
    assert!((seconds(30)..=seconds(35)).contains(&began.elapsed()), "{:?}", began.elapsed());
    assert_eq!(served.subscriptions().ended(EndReason::Stalled), 1);
    // What the pipe has taken can still be read; then it is over, within an event or a chunk.
    let rest = tokio::spawn(async move { while stalled.event().await.is_some() {} });
    assert!(
        timeout(seconds(60), rest).await.expect("the socket is closed").is_err(),
        "cut off in the middle"
    );
    reading.abort();
}

#[tokio::test(start_paused = true)]
async fn a_stalled_client_that_goes_on_talking_piles_nothing_up() {
    let publisher = InMemoryPublisher::new();
    let served =
        Served::in_memory(builder().publisher(publisher.clone()).subscription_authorizer(allow_all()));
    let uri = format!("note://{}", "x".repeat(2000));
    let mut stalled = served.connect_with_buffer(4096);
    stalled.send(&Message::listen(json!({ "resourceSubscriptions": [uri] }))).await;
    assert_eq!(stalled.head().await.status, 200);
    stalled.event().await.unwrap();
    for _ in 0..200 {
        publisher.resource_updated(&uri).unwrap();
        sleep(std::time::Duration::from_millis(10)).await;
        stalled.write(b"x").await;
        sleep(std::time::Duration::from_millis(10)).await;
    }
    let mut heard = 0;
    while let Ok(Some(Event::Message(_))) = timeout(seconds(1), stalled.event()).await {
        heard += 1;
    }
    assert!((2..10).contains(&heard), "{heard} copies of one change were kept for it");
}
