//! Cancellation: who signals it, when, and what becomes of a handler that was signalled.

use std::sync::{
    Arc, Mutex,
    mpsc::{self, SyncSender},
};

use mcp_runtime::{McpServer, prelude::*, server::ServerBuilder};
use mcp_tests::{Event, Local, Message, Probe, Served, eventually, seconds};
use serde_json::json;
use tokio::time::{Instant, timeout};

#[mcp_endpoint(path = "/mcp", name = "cancellation", version = "1.0.0")]
struct Cancelling;

#[mcp_endpoint]
impl Cancelling {
    /// Reports if it can, and ends when it is told to.
    #[mcp_tool]
    async fn cooperative(
        progress: Option<ProgressReporter>,
        token: CancellationToken,
        State(probe): State<Probe>,
    ) -> Result<&'static str, ToolError> {
        let _dropped = probe.note_on_drop("dropped");
        let _ = token.on_cancel({
            let probe = probe.clone();
            move |reason| probe.note(format!("{reason:?}"))
        });
        let _kept = token.on_cancel({
            let probe = probe.clone();
            move |reason| probe.note(format!("callback: {reason}"))
        });
        progress.report(1).await?;
        probe.note("started");
        token.cancelled().await;
        token.check()?;
        Ok("never")
    }

    /// Hears nothing, and goes on for a minute.
    #[mcp_tool]
    async fn deaf(progress: Option<ProgressReporter>, State(probe): State<Probe>) -> &'static str {
        let _dropped = probe.note_on_drop("dropped");
        let _ = progress.report(1).await;
        probe.note("started");
        tokio::time::sleep(seconds(60)).await;
        let late = progress.report(2).await;
        probe.note(format!("finished: {late:?}"));
        "late"
    }

    /// Ends when it is permitted to.
    #[mcp_tool(timeout = "5m")]
    async fn led(token: CancellationToken, State(probe): State<Probe>) -> String {
        probe.note("started");
        probe.permitted().await;
        format!("{:?}", token.reason())
    }

    #[mcp_tool(timeout = "2s")]
    async fn impatient() {
        std::future::pending().await
    }

    #[mcp_tool]
    async fn busy(progress: Option<ProgressReporter>) -> Result<(), ToolError> {
        for step in 0_u32.. {
            progress.report(step).await?;
            tokio::time::sleep(seconds(7)).await;
        }
        Ok(())
    }

    #[mcp_tool]
    async fn panics_when_cancelled(token: CancellationToken, State(probe): State<Probe>) {
        probe.note("started");
        token.cancelled().await;
        probe.note("panicking");
        panic!("at the worst time");
    }

    /// Registers what it should not need.
    #[mcp_tool]
    async fn callbacks(token: CancellationToken, State(probe): State<Probe>) {
        let note = |what: &'static str| {
            let probe = probe.clone();
            move |_| probe.note(what)
        };
        let removed = token.on_cancel(note("removed"));
        let _bad = token.on_cancel(|_| panic!("in a callback"));
        let _first = token.on_cancel(note("kept"));
        let _second = token.on_cancel(note("kept"));
        token.on_cancel(note("detached")).detach();
        drop(removed);
        probe.note("started");
        token.cancelled().await;
        let _late = token.on_cancel(note("late"));
        probe.note("after late");
    }

    /// Gives its token away.
    #[mcp_tool]
    async fn leaking(
        token: CancellationToken,
        State(kept): State<Kept>,
        State(probe): State<Probe>,
    ) -> &'static str {
        token.on_cancel(move |_| probe.note("never")).detach();
        if let Ok(mut kept) = kept.0.lock() {
            *kept = Some(token);
        }
        "done"
    }

    /// Blocks its thread until somebody lets it go.
    #[mcp_tool]
    fn blocking(
        token: CancellationToken,
        State(probe): State<Probe>,
        State(Release(release)): State<Release>,
    ) -> String {
        let (sender, receiver) = mpsc::sync_channel::<()>(1);
        if let Ok(mut release) = release.lock() {
            release.push(sender);
        }
        probe.note("started");
        let _ = receiver.recv();
        probe.note(format!("returned: {:?}", token.reason()));
        "too late".to_owned()
    }

    #[mcp_prompt]
    async fn prompt(State(probe): State<Probe>, token: CancellationToken) -> String {
        stop(probe, token).await
    }

    #[mcp_resource(uri = "x://resource")]
    async fn resource(State(probe): State<Probe>, token: CancellationToken) -> String {
        stop(probe, token).await
    }

    #[mcp_completion(resource = "x://items/{id}", argument = "id")]
    async fn completion(State(probe): State<Probe>, token: CancellationToken) -> Vec<String> {
        vec![stop(probe, token).await]
    }

    #[mcp_resource(uri = "x://items/{id}")]
    async fn item(id: String) -> String {
        id
    }

    #[mcp_resource_list]
    async fn list(State(probe): State<Probe>, token: CancellationToken) -> Vec<ResourceEntry> {
        vec![ResourceEntry::new("x://resource", stop(probe, token).await)]
    }
}

async fn stop(probe: Probe, token: CancellationToken) -> String {
    probe.note("started");
    let reason = token.cancelled().await;
    probe.note(format!("{reason:?}"));
    String::new()
}

/// A token that outlives its call.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Option<CancellationToken>>>);

/// Lets blocking handlers return.
#[derive(Clone, Default)]
struct Release(Arc<Mutex<Vec<SyncSender<()>>>>);

impl Release {
    fn all(&self) {
        self.0.lock().unwrap().drain(..).for_each(drop);
    }
}

fn builder(probe: &Probe) -> ServerBuilder {
    McpServer::builder()
        .endpoint(Cancelling)
        .state(probe.clone())
        .state(Kept::default())
        .state(Release::default())
}

fn server() -> (Local, Probe) {
    let probe = Probe::new();
    (Local::new(builder(&probe)), probe)
}

fn call(tool: &str) -> Message {
    Message::call(tool, json!({}))
}

/// Starts a call whose client waits for its answer.
async fn started(
    local: &Local,
    probe: &Probe,
    message: &Message,
) -> tokio::task::JoinHandle<mcp_tests::Stream> {
    let before = probe.notes().iter().filter(|note| *note == "started").count();
    let waiting = tokio::spawn(local.open(message));
    probe.counted("started", before + 1).await;
    waiting
}

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
async fn the_deadline_counts_the_time_in_the_queue() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).max_concurrent_handlers(1_usize).max_blocking_handlers(1_usize));
    let first = started(&local, &probe, &call("led")).await;
    let began = Instant::now();
    let second = tokio::spawn(local.open(&call("cooperative")));
    tokio::time::sleep(seconds(40)).await;
    probe.permit();
    first.await.unwrap();
    assert_eq!(second.await.unwrap().status, 504, "it did run");
    assert_eq!(began.elapsed(), seconds(60));
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_does_not_listen_is_dropped_after_the_grace() {
    let (local, probe) = server();
    let waiting = started(&local, &probe, &call("deaf")).await;
    waiting.abort();
    let began = Instant::now();
    assert_eq!(local.handle().running(), 1, "its place stays taken");
    probe.noted("dropped").await;
    assert_eq!(began.elapsed(), seconds(5));
    eventually("the place is free", || local.handle().running() == 0).await;
    assert_eq!(probe.notes(), ["started", "dropped"]);
}

#[tokio::test(start_paused = true)]
async fn the_grace_begins_with_the_deadline_and_the_answer_does_not_wait_for_it() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).request_timeout(seconds(10)).cancellation_grace(seconds(3)));
    let began = Instant::now();
    assert_eq!(local.send(&call("deaf")).await.status, 504);
    assert_eq!((began.elapsed(), local.handle().running()), (seconds(10), 1));
    probe.noted("dropped").await;
    assert_eq!(began.elapsed(), seconds(13));
}

#[tokio::test(start_paused = true)]
async fn without_a_grace_a_handler_is_never_dropped() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).cancellation_grace(None));
    let began = Instant::now();
    started(&local, &probe, &call("deaf")).await.abort();
    probe.noted("dropped").await;
    assert_eq!(began.elapsed(), seconds(60), "it ended by itself");
    assert_eq!(probe.notes(), ["started", "finished: Ok(())", "dropped"]);
    eventually("the place is free", || local.handle().running() == 0).await;
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
    let reply = local.send(&call("leaking")).await;
    assert_eq!(reply.text(), "done");
    tokio::time::sleep(seconds(120)).await;
    local.handle().shutdown().await;
    let token = kept.0.lock().unwrap().take().unwrap();
    assert_eq!((token.is_cancelled(), token.reason(), token.check()), (false, None, Ok(())));
    assert_eq!(probe.notes(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_panic_after_cancellation_frees_its_place() {
    let (local, probe) = server();
    started(&local, &probe, &call("panics_when_cancelled")).await.abort();
    probe.noted("panicking").await;
    eventually("the place is free", || local.handle().running() == 0).await;
    probe.permit();
    assert_eq!(local.send(&call("led")).await.text(), "None");
}

#[tokio::test]
async fn a_blocking_handler_keeps_its_place_until_it_returns() {
    let (probe, release) = (Probe::new(), Release::default());
    let builder = McpServer::builder().endpoint(Cancelling).cancellation_grace(seconds(0));
    let builder = builder.state(probe.clone()).state(release.clone()).state(Kept::default());
    let local = Local::new(
        builder.max_concurrent_handlers(1_usize).max_blocking_handlers(1_usize).handler_queue(0_usize),
    );
    started(&local, &probe, &call("blocking")).await.abort();
    // Far beyond the grace, which is over at once.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(local.handle().running(), 1);
    assert_eq!(local.send(&call("led")).await.status, 503);
    release.all();
    probe.noted("returned: Some(ClientDisconnected)").await;
    eventually("the place is free", || local.handle().running() == 0).await;
    probe.permit();
    assert_eq!(local.send(&call("led")).await.text(), "None");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_leaves_the_queue_never_runs() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).max_concurrent_handlers(1_usize).max_blocking_handlers(1_usize));
    let first = started(&local, &probe, &call("led")).await;
    let second = tokio::spawn(local.open(&call("led")));
    eventually("it waits", || local.handle().waiting() == 1).await;
    second.abort();
    eventually("it has left", || local.handle().waiting() == 0).await;
    probe.permit();
    assert_eq!(first.await.unwrap().whole().await.text(), "None");
    assert_eq!(probe.notes(), ["started"]);
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
    let local = Local::new(McpServer::builder().endpoint(mcp_tests::endpoint().tool(tool)));
    let began = Instant::now();
    assert_eq!(local.send(&call("waiting")).await.refusal(), (504, -32603));
    assert_eq!(began.elapsed(), seconds(60));
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
