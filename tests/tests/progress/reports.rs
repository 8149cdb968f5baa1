//! What a handler may report, and what its client sees of it.

use std::sync::{Arc, Mutex};

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Event, Local, Message, Probe, Reply, endpoint, seconds};
use serde_json::{Value, json};

use super::{Working, report, reported, server};

/// Whether an answer was a stream.
fn is_stream(reply: &Reply) -> bool {
    reply.header("content-type") == Some("text/event-stream")
}

#[tokio::test]
async fn without_a_report_the_answer_is_plain_json() {
    let (local, _) = server();
    let reply = local.send(&report(&[])).await;
    assert_eq!((is_stream(&reply), &*reply.text()), (false, "done"));
}

#[tokio::test]
async fn without_a_token_there_is_no_reporter() {
    let (local, probe) = server();
    let reply = local.send(&report(&[1.0, 2.0]).without_meta("progressToken")).await;
    assert_eq!((is_stream(&reply), &*reply.text()), (false, "done"));
    assert_eq!(probe.notes(), ["1", "2"], "reports on an absent reporter succeed");
    let blocking = Message::call("blocking", json!({ "steps": 2 }));
    assert_eq!(local.send(&blocking).await.text(), "false of 2");
}

#[tokio::test]
async fn the_first_report_makes_the_response_a_stream_while_the_handler_runs() {
    let (local, probe) = server();
    let response = local.open(&Message::call("led", json!({ "steps": 1 })).progress_token("p"));
    let mut response = Box::pin(response);
    let waiting = tokio::time::timeout(seconds(0), &mut response).await;
    assert!(waiting.is_err(), "the head waits for the first report");
    probe.permit();
    let mut stream = response.await;
    assert_eq!(stream.status, 200);
    assert_eq!(stream.headers["content-type"], "text/event-stream");
    assert_eq!(stream.next().await.and_then(|event| event.progress()), Some(1.0));
    assert_eq!(local.handle().running(), 1);
    probe.permit();
    let answer = stream.next().await.and_then(Event::into_message).unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "done");
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn the_token_comes_back_as_it_was() {
    let (local, _) = server();
    for token in [
        json!("p"),
        json!(""),
        json!("7"),
        json!("\u{0}é\""),
        json!(7),
        json!(0),
        json!(-1),
        json!(9_007_199_254_740_993_u64),
        json!(u64::MAX),
    ] {
        let reply = local.send(&report(&[1.0]).progress_token(token.clone())).await;
        assert_eq!(reply.events()[0]["params"]["progressToken"], token);
    }
}

#[tokio::test]
async fn progress_goes_up_only() {
    let (local, probe) = server();
    let reply = local.send(&report(&[1.0, 1.0, 2.5, 2.0, 2.5, 3.0])).await;
    assert_eq!(reported(&reply), [1.0, 2.5, 3.0]);
    let refused = "progress must not decrease: 2 was reported after 2.5";
    assert_eq!(probe.notes(), ["1", "1", "2.5", refused, "2.5", "3"]);
}

#[tokio::test]
async fn the_first_value_may_be_any_finite_number() {
    let (local, _) = server();
    let reply = local.send(&report(&[-3.5, -3.0, 0.0, 1e300])).await;
    assert_eq!(reported(&reply), [-3.5, -3.0, 0.0, 1e300]);
}

#[tokio::test]
async fn totals_and_messages_are_sent_where_they_are_known() {
    let (local, _) = server();
    let events = local.send(&Message::call("detailed", json!({})).progress_token(9)).await.events();
    let first = json!({ "progressToken": 9, "progress": 0.5, "total": 2, "message": "half\nof one" });
    assert_eq!(events[0]["params"], first);
    assert_eq!(events[1]["params"], json!({ "progressToken": 9, "progress": 2, "total": 2.5 }));
}

#[tokio::test]
async fn going_back_ends_a_handler_that_asks() {
    let (local, _) = server();
    let reply = local.send(&Message::call("decreasing", json!({})).progress_token("p")).await;
    assert_eq!(reported(&reply), [2.0]);
    assert_eq!(reply.failure(), "progress must not decrease: 1 was reported after 2");
}

#[tokio::test]
async fn every_operation_may_report() {
    let (local, _) = server();
    for (message, member) in
        [(Message::prompt("prompt", json!({})), "messages"), (Message::read("x://a"), "contents")]
    {
        let reply = local.send(&message.progress_token("p")).await;
        assert_eq!(reported(&reply), [1.0]);
        assert!(reply.result()[member].is_array(), "{reply:?}");
    }
}

#[tokio::test]
async fn an_error_after_progress_is_the_last_event() {
    let (local, _) = server();
    let reply = local.send(&Message::read("x://none").progress_token("p")).await;
    assert_eq!(reported(&reply), [1.0]);
    assert_eq!(reply.refusal(), (200, -32602));
    let reply = local.send(&Message::call("panicking", json!({})).progress_token("p")).await;
    assert_eq!(reported(&reply), [1.0]);
    assert_eq!(reply.refusal(), (200, -32603));
    assert!(!format!("{reply:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_reporter_is_inert_after_the_end_of_its_call() {
    let kept = Arc::<Mutex<Option<ProgressReporter>>>::default();
    let server = McpServer::builder().endpoint(Working).state(Probe::new()).state(kept.clone());
    let local = Local::new(server);
    let reply = local.send(&Message::call("leaking", json!({})).progress_token("p")).await;
    assert_eq!(reported(&reply), [1.0]);
    let reporter = kept.lock().unwrap().take().unwrap();
    for late in [2.0, 0.5, 7.0] {
        assert_eq!(reporter.report(late).await, Ok(()), "no effect, and no error");
    }
}

#[tokio::test]
async fn many_tasks_may_report_and_the_client_still_sees_it_go_up() {
    let (local, _) = server();
    let reply = local.send(&Message::call("racing", json!({})).progress_token("p")).await;
    let values = reported(&reply);
    assert!(values.is_sorted_by(|left, right| left < right), "{values:?}");
    assert!(values.len() > 50, "{values:?}");
}

#[tokio::test(start_paused = true)]
async fn progress_of_an_endpoint_by_hand_is_the_same() {
    let tool = Tool::new("steps").handler(
        async |progress: Option<ProgressReporter>| -> Result<Json<Value>, ToolError> {
            for step in 1..=3 {
                progress.report(step).await?;
                tokio::time::sleep(seconds(1)).await;
            }
            Ok(Json(json!({ "steps": 3 })))
        },
    );
    let local = Local::new(McpServer::builder().endpoint(endpoint().tool(tool)));
    let reply = local.send(&Message::call("steps", json!({})).progress_token("p")).await;
    assert_eq!(reported(&reply), [1.0, 2.0, 3.0]);
    assert_eq!(reply.result()["structuredContent"], json!({ "steps": 3 }));
}
