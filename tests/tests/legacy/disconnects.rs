//! Clients that go away: an older revision does not take it for a cancellation once the response has begun.

use mcp_runtime::{McpServer, prelude::ServerHandle, server::ServerBuilder};
use mcp_tests::{Local, Message, Probe, Served, endpoint, eventually, seconds};
use serde_json::json;
use tokio::time::timeout;

use super::{BOTH, call, led, request};

fn builder(probe: &Probe) -> ServerBuilder {
    McpServer::builder().endpoint(endpoint().tool(led())).state(probe.clone())
}

fn reporting(revision: &str) -> Message {
    call(revision, "led", json!({})).set("/params/_meta", json!({ "progressToken": "p" }))
}

async fn idle(handle: ServerHandle) {
    eventually("the place is free", || handle.running() == 0).await;
}

#[tokio::test]
async fn before_the_response_has_begun_a_disconnect_cancels() {
    for revision in BOTH {
        let probe = Probe::new();
        let served = Served::start(builder(&probe)).await;
        let mut connection = served.connect().await;
        connection.send(&call(revision, "led", json!({}))).await;
        probe.noted("started").await;
        drop(connection);
        probe.noted("ClientDisconnected").await;
        probe.permit();
        idle(served.handle()).await;
    }
}

#[tokio::test]
async fn afterwards_the_handler_goes_on_for_nobody() {
    for revision in BOTH {
        let probe = Probe::new();
        let served = Served::start(builder(&probe)).await;
        let mut connection = served.connect().await;
        connection.send(&reporting(revision)).await;
        assert_eq!(connection.head().await.header("content-type"), Some("text/event-stream"));
        assert_eq!(connection.event().await.and_then(|event| event.progress()), Some(1.0));
        drop(connection);
        // Others are served meanwhile.
        probe.noted("started").await;
        assert_eq!(served.send(&request(revision, "ping", json!({}))).await.status, 200);
        assert_eq!(served.handle().running(), 1);
        probe.permit();
        probe.noted("ended: Ok(())").await;
        idle(served.handle()).await;
        assert_eq!(probe.notes(), ["started", "ended: Ok(())"], "the token was not signalled");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_waits_for_a_reader_that_is_gone() {
    for revision in BOTH {
        let probe = Probe::new();
        let local = Local::new(builder(&probe).progress_queue(1));
        let mut stream = local.open(&reporting(revision)).await;
        assert_eq!(stream.next().await.and_then(|event| event.progress()), Some(1.0));
        drop(stream);
        tokio::time::sleep(seconds(10)).await;
        assert_eq!(probe.notes(), ["started"]);
        probe.permit();
        probe.noted("ended: Ok(())").await;
        idle(local.handle()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_stalls_is_given_up_and_the_handler_goes_on() {
    for revision in BOTH {
        let probe = Probe::new();
        let local = Local::new(builder(&probe));
        let mut stream = local.open(&reporting(revision)).await;
        tokio::time::sleep(seconds(45)).await;
        assert_eq!(probe.notes(), ["started"], "the report is unread for longer than `write_timeout`");
        assert_eq!(stream.next().await, None);
        probe.permit();
        probe.noted("ended: Ok(())").await;
        idle(local.handle()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn its_deadline_and_the_servers_end_hold_all_the_same() {
    for revision in BOTH {
        let probe = Probe::new();
        let local = Local::new(builder(&probe));
        let mut stream = local.open(&reporting(revision)).await;
        stream.next().await;
        drop(stream);
        probe.noted("DeadlineExceeded").await;
        idle(local.handle()).await;

        let probe = Probe::new();
        let local = Local::new(builder(&probe));
        let mut stream = local.open(&reporting(revision)).await;
        stream.next().await;
        drop(stream);
        let report = local.handle().shutdown().await;
        assert!(probe.has("ShuttingDown"), "{:?} {report:?}", probe.notes());
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelling_notification_has_no_effect_over_http() {
    for revision in BOTH {
        let probe = Probe::new();
        let local = Local::new(builder(&probe));
        let message = call(revision, "led", json!({}));
        let mut running = Box::pin(local.send(&message));
        assert!(timeout(seconds(1), &mut running).await.is_err());
        let cancel = request(revision, "notifications/cancelled", json!({ "requestId": 1 })).unset("/id");
        assert_eq!(local.send(&cancel).await.status, 202);
        probe.permit();
        assert_eq!(running.await.text(), "led");
        assert_eq!(probe.notes(), ["started", "ended: Ok(())"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_modern_client_that_goes_away_cancels_as_ever() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe));
    let mut stream = local.open(&Message::call("led", json!({})).progress_token("p")).await;
    stream.next().await;
    drop(stream);
    assert!(probe.has("ClientDisconnected"));
}
