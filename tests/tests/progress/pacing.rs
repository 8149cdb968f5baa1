//! How a stream is paced: room for reports, chunks, comments, and clients that don't read.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Event, Local, Message, Probe, endpoint, seconds};
use serde_json::json;
use tokio::time::Instant;

use super::{builder, report, reported, server};

fn led(steps: u32) -> Message {
    Message::call("led", json!({ "steps": steps })).progress_token("p")
}

#[tokio::test]
async fn a_handler_that_never_waits_is_answered_by_a_stream_all_the_same() {
    let (local, _) = server();
    let mut stream = local.open(&report(&[1.0, 2.0, 3.0])).await;
    let chunk = String::from_utf8(stream.chunk().await.unwrap()).unwrap();
    assert_eq!(chunk.matches("data: ").count(), 4, "one chunk for all that is ready: {chunk}");
    assert_eq!(stream.chunk().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_report_waits_for_room() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).progress_queue(2));
    let steps: Vec<f64> = (1..=7).map(f64::from).collect();
    let mut stream = local.open(&report(&steps)).await;
    for accepted in [2, 4, 6] {
        tokio::time::sleep(seconds(1)).await;
        assert_eq!(probe.notes().len(), accepted);
        let chunk = String::from_utf8(stream.chunk().await.unwrap()).unwrap();
        assert_eq!(chunk.matches("data: ").count(), 2, "{chunk}");
    }
    let rest = stream.whole().await;
    assert_eq!(reported(&rest), [7.0]);
}

#[tokio::test]
async fn a_plain_function_reports_from_its_thread_and_waits_there() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).progress_queue(1));
    let message = Message::call("blocking", json!({ "steps": 5 })).progress_token("p");
    let mut stream = local.open(&message).await;
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        match event.progress() {
            Some(value) => {
                seen.push(value);
                // One is read, one may be queued, one is being accepted.
                let accepted = probe.notes().len();
                assert!(accepted <= seen.len() + 2, "{accepted} after {seen:?}");
            }
            None => assert_eq!(event.into_message().unwrap()["result"]["content"][0]["text"], "true of 5"),
        }
    }
    assert_eq!(seen, [1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[tokio::test(start_paused = true)]
async fn an_idle_stream_is_kept_alive_by_comments() {
    let (local, probe) = server();
    probe.permit();
    let mut stream = local.open(&led(2)).await;
    assert_eq!(stream.next().await.and_then(|event| event.progress()), Some(1.0));
    let began = Instant::now();
    for comment in 1..=2 {
        assert_eq!(stream.chunk().await.as_deref(), Some(&b":\n\n"[..]));
        assert_eq!(began.elapsed(), seconds(15 * comment));
    }
    // What is written starts the clock anew.
    tokio::time::sleep(seconds(10)).await;
    probe.permit();
    assert_eq!(stream.next().await.and_then(|event| event.progress()), Some(2.0));
    let began = Instant::now();
    assert_eq!(stream.next().await, Some(Event::Comment));
    assert_eq!(began.elapsed(), seconds(15));
}

#[tokio::test(start_paused = true)]
async fn comments_can_be_turned_off_and_then_a_stream_is_silent() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).keep_alive(None));
    probe.permit();
    let mut stream = local.open(&led(1)).await;
    assert_eq!(stream.next().await.and_then(|event| event.progress()), Some(1.0));
    let silent = tokio::time::timeout(seconds(59), stream.next()).await;
    assert!(silent.is_err(), "{silent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_nobody_reads_is_given_up_after_the_write_timeout() {
    let probe = Probe::new();
    let tool = Tool::new("watched").handler(
        async |progress: Option<ProgressReporter>, token: CancellationToken, State(probe): State<Probe>| {
            let _ = progress.report(1).await;
            let reason = token.cancelled().await;
            probe.note(format!("{reason:?}"));
        },
    );
    let local = Local::new(McpServer::builder().endpoint(endpoint().tool(tool)).state(probe.clone()));
    let began = Instant::now();
    let unread = local.open(&Message::call("watched", json!({})).progress_token("p")).await;
    probe.noted("WriteStalled").await;
    assert_eq!(began.elapsed(), seconds(30));
    drop(unread);

    // One that is read now and then is not.
    let mut read = local.open(&Message::call("watched", json!({})).progress_token("p")).await;
    let began = Instant::now();
    while began.elapsed() < seconds(50) {
        assert!(read.next().await.is_some());
        tokio::time::sleep(seconds(10)).await;
    }
    assert_eq!(probe.notes().len(), 1, "{:?}", probe.notes());
}
