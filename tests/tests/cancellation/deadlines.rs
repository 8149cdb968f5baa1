//! Deadlines: absolute, from the arrival of the request.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Event, Local, Message, Probe, endpoint, seconds};
use serde_json::json;
use tokio::time::Instant;

use super::{builder, call, server, started};

#[tokio::test(start_paused = true)]
async fn the_deadline_before_a_stream_is_a_504() {
    let (local, probe) = server();
    let began = Instant::now();
    let reply = local.send(&call("cooperative").id("d")).await;
    assert_eq!(began.elapsed(), seconds(60));
    assert_eq!(reply.refusal(), (504, -32603));
    assert_eq!(reply.json()["id"], "d");
    assert!(probe.has("callback: the request's deadline passed"), "{:?}", probe.notes());
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_have_a_deadline_of_its_own() {
    let (local, probe) = server();
    let began = Instant::now();
    assert_eq!(local.send(&call("impatient")).await.refusal(), (504, -32603));
    assert_eq!(began.elapsed(), seconds(2));
    let patient = started(&local, &probe, &call("led")).await;
    tokio::time::sleep(seconds(299)).await;
    probe.permit();
    assert_eq!(patient.await.unwrap().whole().await.text(), "None");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_of_a_stream_is_its_last_event_and_progress_does_not_move_it() {
    let (local, _) = server();
    let began = Instant::now();
    let mut stream = local.open(&call("busy").progress_token("p")).await;
    let (mut last, mut steps) = (None, 0);
    while let Some(event) = stream.next().await {
        steps += i32::from(event.progress().is_some());
        last = event.into_message().or(last);
    }
    assert_eq!(began.elapsed(), seconds(60));
    assert_eq!(steps, 9, "every 7 seconds");
    let error = &last.unwrap()["error"];
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(-32603), &json!("the request's deadline passed"))
    );
}

#[tokio::test(start_paused = true)]
async fn after_the_error_of_a_deadline_comes_the_end_of_the_body() {
    let (local, _) = server();
    let mut stream = local.open(&call("cooperative").progress_token("p")).await;
    assert_eq!(stream.next().await.and_then(|event| event.progress()), Some(1.0));
    let mut rest = Vec::new();
    while let Some(event) = stream.next().await {
        rest.push(event);
    }
    assert!(matches!(rest.pop(), Some(Event::Message(_))), "the answer is last");
    assert!(rest.iter().all(|event| *event == Event::Comment), "{rest:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_handler_says_after_its_deadline_is_discarded() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).request_timeout(seconds(10)).cancellation_grace(None));
    let mut stream = local.open(&call("deaf").progress_token("p")).await;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.extend(event.into_message());
    }
    probe.noted("finished: Ok(())").await;
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(events[1]["error"]["code"], -32603);
    assert_eq!(stream.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_counts_the_time_in_the_queue() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).max_concurrent_handlers(1).max_blocking_handlers(1));
    let first = started(&local, &probe, &call("led")).await;
    let began = Instant::now();
    let second = tokio::spawn(local.open(&call("cooperative")));
    tokio::time::sleep(seconds(40)).await;
    probe.permit();
    first.await.unwrap();
    assert_eq!(second.await.unwrap().status, 504, "it did run");
    assert_eq!(began.elapsed(), seconds(60));
}

/// An admission that takes its time.
struct Slow;

impl Admission for Slow {
    async fn admit(&self, _: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        tokio::time::sleep(seconds(600)).await;
        Ok(Caller::anonymous())
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_holds_for_admission_too() {
    let probe = Probe::new();
    let local = Local::guarded(builder(&probe).admission(Slow));
    for message in [call("led"), Message::request("tools/list")] {
        let began = Instant::now();
        assert_eq!(local.send(&message).await.refusal(), (503, -32603));
        assert_eq!(began.elapsed(), seconds(60));
    }
    assert_eq!(probe.notes(), [""; 0]);
}

/// What takes longer to inject than there is time.
struct Eventually;

impl FromInvocation for Eventually {
    type Rejection = Rejection;

    async fn from_invocation(_: &Invocation) -> Result<Self, Rejection> {
        tokio::time::sleep(seconds(600)).await;
        Ok(Self)
    }
}

#[tokio::test(start_paused = true)]
async fn the_deadline_holds_for_what_is_injected_too() {
    let tool = Tool::new("waiting").handler(async |_: Eventually| "never");
    let local = Local::new(McpServer::builder().endpoint(endpoint().tool(tool)));
    let began = Instant::now();
    assert_eq!(local.send(&call("waiting")).await.refusal(), (504, -32603));
    assert_eq!(began.elapsed(), seconds(60));
}
