//! Progress: when a response becomes a stream, what is sent over it, and how it is paced.

use mcp_runtime::{McpServer, prelude::*, server::ServerBuilder};
use mcp_tests::{Event, Local, Message, Probe, Reply, endpoint, seconds};
use serde_json::{Value, json};
use tokio::time::Instant;

#[mcp_endpoint(path = "/mcp", name = "progress", version = "1.0.0")]
struct Working;

#[mcp_endpoint]
impl Working {
    /// Reports each of `steps`, and notes what became of it.
    #[mcp_tool]
    async fn report(
        steps: Vec<f64>,
        progress: Option<ProgressReporter>,
        State(probe): State<Probe>,
    ) -> Result<&'static str, ToolError> {
        for step in steps {
            let outcome = progress.report(step).await;
            probe.note(outcome.map_or_else(|error| error.to_string(), |()| step.to_string()));
        }
        Ok("done")
    }

    /// Reports a step whenever it is permitted to.
    #[mcp_tool]
    async fn led(
        steps: u32,
        progress: Option<ProgressReporter>,
        State(probe): State<Probe>,
    ) -> Result<&'static str, ToolError> {
        for step in 1..=steps {
            probe.permitted().await;
            progress.report(step).await?;
        }
        probe.permitted().await;
        Ok("done")
    }

    #[mcp_tool]
    async fn detailed(progress: Option<ProgressReporter>) -> Result<&'static str, ToolError> {
        progress.report(Progress::new(0.5).total(2).message("half\nof one")).await?;
        progress.report(Progress::new(2_u64).total(2.5)).await?;
        Ok("done")
    }

    #[mcp_tool]
    async fn decreasing(progress: Option<ProgressReporter>) -> Result<&'static str, ToolError> {
        progress.report(2).await?;
        progress.report(1).await?;
        Ok("never")
    }

    #[mcp_tool]
    async fn panicking(progress: Option<ProgressReporter>) -> Result<&'static str, ToolError> {
        progress.report(1).await?;
        tokio::task::yield_now().await;
        panic!("the password is hunter2")
    }

    /// Gives its reporter away.
    #[mcp_tool]
    async fn leaking(
        progress: Option<ProgressReporter>,
        State(kept): State<std::sync::Arc<std::sync::Mutex<Option<ProgressReporter>>>>,
    ) -> Result<&'static str, ToolError> {
        progress.report(1).await?;
        *kept.lock().map_err(|_| "poisoned")? = progress;
        Ok("done")
    }

    /// Reports from many tasks at once.
    #[mcp_tool]
    async fn racing(progress: Option<ProgressReporter>) -> Result<&'static str, ToolError> {
        let tasks = (0..8_u32).map(|task| {
            let progress = progress.clone();
            tokio::spawn(async move {
                for step in 0..100_u32 {
                    // Lower than another task's is refused: that is the point.
                    let _ = progress.report(step * 8 + task).await;
                    tokio::task::yield_now().await;
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await?;
        }
        Ok("done")
    }

    #[mcp_tool]
    fn blocking(
        steps: u32,
        progress: Option<ProgressReporter>,
        State(probe): State<Probe>,
    ) -> Result<String, ToolError> {
        for step in 1..=steps {
            progress.report_blocking(step)?;
            probe.note("reported");
        }
        Ok(format!("{} of {steps}", progress.is_some()))
    }

    #[mcp_prompt]
    async fn prompt(progress: Option<ProgressReporter>) -> Result<&'static str, PromptError> {
        progress.report(1).await?;
        Ok("prompted")
    }

    #[mcp_resource(uri = "x://{id}")]
    async fn resource(id: String, progress: Option<ProgressReporter>) -> Result<String, ResourceError> {
        progress.report(1).await?;
        if id == "none" { Err(ResourceError::not_found()) } else { Ok(id) }
    }
}

fn builder(probe: &Probe) -> ServerBuilder {
    McpServer::builder()
        .endpoint(Working)
        .state(probe.clone())
        .state(std::sync::Arc::<std::sync::Mutex<Option<ProgressReporter>>>::default())
}

fn server() -> (Local, Probe) {
    let probe = Probe::new();
    (Local::new(builder(&probe)), probe)
}

fn report(steps: &[f64]) -> Message {
    Message::call("report", json!({ "steps": steps })).progress_token("p")
}

/// Whether an answer was a stream.
fn is_stream(reply: &Reply) -> bool {
    reply.header("content-type") == Some("text/event-stream")
}

/// What was reported, over a stream that ends with the answer.
fn reported(reply: &Reply) -> Vec<f64> {
    let events = reply.events();
    let (answer, notifications) = events.split_last().unwrap();
    assert_eq!(answer["id"], 1, "{events:?}");
    let values = notifications.iter().map(|event| {
        assert_eq!((&event["jsonrpc"], &event["method"]), (&json!("2.0"), &json!("notifications/progress")));
        assert_eq!(event.get("id"), None);
        event["params"]["progress"].as_f64().unwrap()
    });
    values.collect()
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
async fn a_handler_that_never_waits_is_answered_by_a_stream_all_the_same() {
    let (local, _) = server();
    let mut stream = local.open(&report(&[1.0, 2.0, 3.0])).await;
    let chunk = String::from_utf8(stream.chunk().await.unwrap()).unwrap();
    assert_eq!(chunk.matches("data: ").count(), 4, "one chunk for all that is ready: {chunk}");
    assert_eq!(stream.chunk().await, None);
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
    let kept = std::sync::Arc::<std::sync::Mutex<Option<ProgressReporter>>>::default();
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
async fn a_report_waits_for_room() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).progress_queue(2_usize));
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
    let local = Local::new(builder(&probe).progress_queue(1_usize));
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

fn led(steps: u32) -> Message {
    Message::call("led", json!({ "steps": steps })).progress_token("p")
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
