//! Who signals a token, and what hears of it.

use mcp_runtime::McpServer;
use mcp_tests::{Local, Message, Probe, Served, eventually, seconds};
use serde_json::json;
use tokio::time::timeout;

use super::{Cancelling, Kept, Release, builder, call, server, started};

#[tokio::test(start_paused = true)]
async fn a_client_that_drops_its_request_signals_the_token_at_once() {
    let (local, probe) = server();
    let mut request = Box::pin(local.open(&call("cooperative")));
    assert!(timeout(seconds(1), &mut request).await.is_err());
    assert_eq!(probe.notes(), ["started"]);
    drop(request);
    // Nothing was awaited since.
    assert_eq!(probe.notes(), ["started", "callback: the client disconnected"]);
    probe.noted("dropped").await;
    eventually("the place is free", || local.handle().running() == 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_drops_its_stream_signals_the_token_at_once() {
    let (local, probe) = server();
    let mut stream = local.open(&call("cooperative").progress_token("p")).await;
    assert_eq!(stream.next().await.and_then(|event| event.progress()), Some(1.0));
    probe.noted("started").await;
    drop(stream);
    assert_eq!(probe.notes(), ["started", "callback: the client disconnected"]);
    probe.noted("dropped").await;
    eventually("the place is free", || local.handle().running() == 0).await;
}

#[tokio::test]
async fn a_connection_that_closes_signals_the_token() {
    let probe = Probe::new();
    let served = Served::start(builder(&probe)).await;
    for (times, message) in [(1, call("cooperative")), (2, call("cooperative").progress_token("p"))] {
        let mut connection = served.connect().await;
        connection.send(&message).await;
        probe.counted("started", times).await;
        drop(connection);
        probe.counted("callback: the client disconnected", times).await;
        probe.counted("dropped", times).await;
    }
    eventually("the places are free", || served.handle().running() == 0).await;
}

#[tokio::test]
async fn a_client_that_sends_no_more_has_gone() {
    let probe = Probe::new();
    let served = Served::start(builder(&probe)).await;
    let mut connection = served.connect().await;
    connection.send(&call("cooperative")).await;
    probe.noted("started").await;
    connection.finish().await;
    probe.noted("callback: the client disconnected").await;
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_handler_is_cancelled() {
    for message in [
        Message::prompt("prompt", json!({})),
        Message::read("x://resource"),
        Message::complete(json!({ "type": "ref/resource", "uri": "x://items/{id}" }), "id", ""),
        Message::request("resources/list"),
    ] {
        let (local, probe) = server();
        started(&local, &probe, &message).await.abort();
        probe.noted("ClientDisconnected").await;
    }
}

#[tokio::test(start_paused = true)]
async fn callbacks_run_once_each_unless_they_were_removed() {
    let (local, probe) = server();
    started(&local, &probe, &call("callbacks")).await.abort();
    probe.noted("after late").await;
    assert_eq!(probe.notes(), ["started", "kept", "kept", "detached", "late", "after late"]);
}

#[tokio::test(start_paused = true)]
async fn a_normal_end_is_no_cancellation_then_or_later() {
    let (kept, probe) = (Kept::default(), Probe::new());
    let builder = McpServer::builder().endpoint(Cancelling);
    let local = Local::new(builder.state(probe.clone()).state(kept.clone()).state(Release::default()));
    let not_cancelled = || {
        let token = kept.0.lock().unwrap().take().unwrap();
        assert_eq!((token.is_cancelled(), token.reason(), token.check()), (false, None, Ok(())));
        token
    };
    assert_eq!(local.send(&call("leaking")).await.text(), "done");
    let plain = not_cancelled();
    // Nobody reads this answer; its handler has ended all the same.
    drop(local.open(&call("leaking").progress_token("p")).await);
    let streamed = not_cancelled();
    tokio::time::sleep(seconds(120)).await;
    local.handle().shutdown().await;
    assert_eq!([plain.reason(), streamed.reason()], [None, None]);
    assert_eq!(probe.notes(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_notification_cancels_nothing_over_http() {
    let (local, probe) = server();
    let running = started(&local, &probe, &call("led").id(7)).await;
    let cancelled = Message::notification("notifications/cancelled").set("/params/requestId", 7);
    assert_eq!(local.send(&cancelled).await.status, 202);
    tokio::time::sleep(seconds(30)).await;
    probe.permit();
    assert_eq!(running.await.unwrap().whole().await.text(), "None");
}
