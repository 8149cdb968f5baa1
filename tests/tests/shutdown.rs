//! The end of a server: drain, cancel, drop, report.

use std::sync::{
    Arc, Mutex,
    mpsc::{self, SyncSender},
};

use mcp_runtime::{McpServer, prelude::*, server::ServerBuilder};
use mcp_tests::{Connection, Event, Local, Message, Probe, Served, eventually, no_longer_listening, seconds};
use serde_json::json;
use tokio::{task::JoinHandle, time::Instant};

#[mcp_endpoint(path = "/mcp", name = "shutdown", version = "1.0.0")]
struct Closing;

#[mcp_endpoint]
impl Closing {
    /// Ends when it is permitted to.
    #[mcp_tool]
    async fn led(State(probe): State<Probe>, token: CancellationToken) -> String {
        probe.note("started");
        probe.permitted().await;
        format!("{:?}", token.reason())
    }

    /// Ends when it is told to.
    #[mcp_tool]
    async fn cooperative(
        progress: Option<ProgressReporter>,
        State(probe): State<Probe>,
        token: CancellationToken,
    ) -> Result<String, ToolError> {
        probe.note("started");
        progress.report(1).await?;
        let reason = token.cancelled().await;
        probe.note(format!("{reason:?}"));
        Err(Cancelled { reason }.into())
    }

    /// Hears nothing.
    #[mcp_tool]
    async fn deaf(State(probe): State<Probe>) {
        let _dropped = probe.note_on_drop("dropped");
        probe.note("started");
        std::future::pending().await
    }

    /// Blocks its thread until somebody lets it go.
    #[mcp_tool]
    fn blocking(State(probe): State<Probe>, State(Release(release)): State<Release>) -> String {
        let (sender, receiver) = mpsc::sync_channel::<()>(1);
        if let Ok(mut release) = release.lock() {
            release.push(sender);
        }
        probe.note("started");
        // A test that fails lets go as well.
        let _ = receiver.recv_timeout(seconds(20));
        probe.note("returned");
        String::new()
    }
}

/// Lets blocking handlers return when it is dropped.
#[derive(Clone, Default)]
struct Release(Arc<Mutex<Vec<SyncSender<()>>>>);

fn builder(probe: &Probe) -> ServerBuilder {
    McpServer::builder().endpoint(Closing).state(probe.clone()).state(Release::default())
}

fn server() -> (Local, Probe) {
    let probe = Probe::new();
    (Local::new(builder(&probe)), probe)
}

fn call(tool: &str) -> Message {
    Message::call(tool, json!({}))
}

/// Starts calls whose clients wait for their answers.
async fn started(local: &Local, probe: &Probe, tools: &[&str]) -> Vec<JoinHandle<mcp_tests::Stream>> {
    let calls = tools.iter().map(|tool| tokio::spawn(local.open(&call(tool)))).collect();
    probe.counted("started", tools.len()).await;
    calls
}

/// Lets a shutdown begin.
async fn shutting_down(handle: &ServerHandle) -> JoinHandle<mcp_runtime::ShutdownReport> {
    let handle = handle.clone();
    let ending = tokio::spawn(async move { handle.shutdown().await });
    tokio::task::yield_now().await;
    ending
}

#[tokio::test(start_paused = true)]
async fn an_idle_server_ends_at_once() {
    let (local, _) = server();
    assert_eq!(local.handle().report(), None);
    let report = local.handle().shutdown().await;
    assert!(report.is_graceful(), "{report:?}");
    assert_eq!((report.running, report.duration), (0, seconds(0)));
    assert_eq!(local.handle().report(), Some(report));
}

#[tokio::test(start_paused = true)]
async fn running_work_may_finish_and_is_not_told_of_it() {
    let (local, probe) = server();
    let mut calls = started(&local, &probe, &["led"]).await;
    let ending = shutting_down(&local.handle()).await;
    tokio::time::sleep(seconds(10)).await;
    assert_eq!((local.handle().running(), local.handle().report()), (1, None));
    probe.permit();
    assert_eq!(calls.remove(0).await.unwrap().whole().await.text(), "None");
    let report = ending.await.unwrap();
    assert!(report.is_graceful(), "{report:?}");
    assert_eq!((report.running, report.duration), (1, seconds(10)));
    assert_eq!(local.handle().running(), 0);
}

#[tokio::test(start_paused = true)]
async fn new_work_is_refused_while_old_work_drains_and_afterwards() {
    let (local, probe) = server();
    let _calls = started(&local, &probe, &["led"]).await;
    let ending = shutting_down(&local.handle()).await;
    let refuse_all = async || {
        for message in [
            call("led"),
            Message::request("tools/list"),
            Message::request("server/discover"),
            Message::notification("notifications/cancelled"),
        ] {
            let reply = local.send(&message).await;
            assert_eq!(reply.refusal(), (503, -32603), "{message:?}");
            assert_eq!(reply.header("retry-after"), Some("1"));
        }
    };
    refuse_all().await;
    probe.permit();
    ending.await.unwrap();
    refuse_all().await;
    assert_eq!(probe.notes(), ["started"]);
}

#[tokio::test(start_paused = true)]
async fn after_the_graceful_time_work_is_cancelled_and_its_clients_are_told() {
    let (local, probe) = server();
    let mut calls = started(&local, &probe, &["cooperative"]).await;
    let mut stream = local.open(&call("cooperative").progress_token("p")).await;
    assert_eq!(stream.next().await.as_ref().and_then(Event::progress), Some(1.0));
    let ending = shutting_down(&local.handle()).await;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.extend(event.into_message());
    }
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["error"]["code"], -32603);
    let reply = calls.remove(0).await.unwrap().whole().await;
    assert_eq!(reply.refusal(), (503, -32603));
    let report = ending.await.unwrap();
    assert_eq!((report.running, report.cancelled, report.dropped, report.residual), (2, 2, 0, 0));
    assert_eq!(report.duration, seconds(15));
    assert_eq!(probe.notes(), ["started", "started", "ShuttingDown", "ShuttingDown"]);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_listen_is_dropped_after_the_forced_time() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).cancellation_grace(None));
    let _calls = started(&local, &probe, &["deaf", "deaf", "cooperative"]).await;
    let began = Instant::now();
    let report = local.handle().shutdown().await;
    assert_eq!((report.running, report.cancelled, report.dropped, report.residual), (3, 3, 2, 0));
    assert_eq!(report.duration, seconds(18));
    assert_eq!(began.elapsed(), seconds(18));
    assert_eq!(local.handle().running(), 0);
    probe.counted("dropped", 2).await;
}

#[tokio::test(start_paused = true)]
async fn both_times_can_be_set() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).graceful_shutdown(seconds(2)).forced_shutdown(seconds(1)));
    let _calls = started(&local, &probe, &["deaf"]).await;
    assert_eq!(local.handle().shutdown().await.duration, seconds(3));
}

#[tokio::test(start_paused = true)]
async fn a_blocking_handler_is_left_and_reported() {
    let (probe, release) = (Probe::new(), Release::default());
    let builder = McpServer::builder().endpoint(Closing).state(probe.clone()).state(release.clone());
    // While a thread blocks, paused time stands still; so there is none to wait for.
    let builder = builder.graceful_shutdown(seconds(0)).forced_shutdown(seconds(0));
    let local = Local::new(builder);
    let _calls = started(&local, &probe, &["blocking"]).await;
    let ending = shutting_down(&local.handle()).await;
    tokio::time::resume();
    let report = ending.await.unwrap();
    assert_eq!((report.running, report.cancelled, report.residual), (1, 1, 1));
    assert!(!report.is_graceful());
    assert_eq!(local.handle().running(), 1);
    release.0.lock().unwrap().clear();
    probe.noted("returned").await;
    eventually("its place is free", || local.handle().running() == 0).await;
}

#[tokio::test(start_paused = true)]
async fn everybody_who_ends_a_server_gets_the_same_report() {
    let (local, probe) = server();
    let _calls = started(&local, &probe, &["deaf"]).await;
    let (first, second) = (shutting_down(&local.handle()).await, shutting_down(&local.handle()).await);
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    assert_eq!(first, second);
    assert_eq!(local.handle().shutdown().await, first);
    assert_eq!(local.handle().report(), Some(first));
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_that_nobody_waits_for_goes_on_when_somebody_does() {
    let (local, probe) = server();
    let _calls = started(&local, &probe, &["deaf"]).await;
    shutting_down(&local.handle()).await.abort();
    assert_eq!(local.send(&call("led")).await.status, 503, "it has begun");
    let report = local.handle().shutdown().await;
    assert_eq!((report.cancelled, report.dropped), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn what_waits_in_the_queue_is_old_work() {
    let probe = Probe::new();
    let builder = builder(&probe).max_concurrent_handlers(1).max_blocking_handlers(1);
    let local = Local::new(builder);
    let first = started(&local, &probe, &["led"]).await.remove(0);
    let second = tokio::spawn(local.open(&call("led")));
    eventually("it waits", || local.handle().waiting() == 1).await;
    let ending = shutting_down(&local.handle()).await;
    probe.permit();
    probe.permit();
    for waiting in [first, second] {
        assert_eq!(waiting.await.unwrap().whole().await.text(), "None");
    }
    let report = ending.await.unwrap();
    assert!(report.is_graceful(), "{report:?}");
    assert_eq!(report.running, 2);
}

#[tokio::test(start_paused = true)]
async fn what_still_waits_when_work_is_cancelled_never_runs() {
    let probe = Probe::new();
    let builder = builder(&probe).max_concurrent_handlers(1).max_blocking_handlers(1);
    let local = Local::new(builder);
    let first = started(&local, &probe, &["cooperative"]).await.remove(0);
    let second = tokio::spawn(local.open(&call("cooperative")));
    eventually("it waits", || local.handle().waiting() == 1).await;
    let report = local.handle().shutdown().await;
    for refused in [first, second] {
        assert_eq!(refused.await.unwrap().status, 503);
    }
    assert_eq!((report.running, report.cancelled, report.dropped), (2, 2, 0));
    assert_eq!(probe.notes(), ["started", "ShuttingDown"]);
}

#[tokio::test(start_paused = true)]
async fn the_report_is_of_the_shutdown_alone() {
    let (local, probe) = server();
    // A client goes away long before, and its handler has to be dropped.
    started(&local, &probe, &["deaf"]).await.remove(0).abort();
    probe.noted("dropped").await;
    eventually("its place is free", || local.handle().running() == 0).await;
    let report = local.handle().shutdown().await;
    assert!(report.is_graceful(), "{report:?}");
    assert_eq!(report.dropped, 0);
}

#[tokio::test]
async fn serving_ends_when_the_server_does() {
    let probe = Probe::new();
    let served = Served::start(builder(&probe)).await;
    let (address, handle) = (served.address(), served.handle());
    let mut idle = served.connect().await;
    idle.send(&Message::request("tools/list")).await;
    assert_eq!(idle.reply().await.status, 200);
    let mut busy = served.connect().await;
    busy.send(&call("led")).await;
    probe.noted("started").await;

    let ending = tokio::spawn(async move { handle.shutdown().await });
    assert!(idle.is_closed().await, "a connection without a request has no reason to stay");
    no_longer_listening(address).await;
    probe.permit();
    let reply = busy.reply().await;
    assert_eq!(reply.text(), "None");
    assert_eq!(reply.header("connection"), Some("close"));
    assert!(busy.is_closed().await);
    assert!(ending.await.unwrap().is_graceful());
    assert!(served.ended().await.is_ok());
}

#[tokio::test]
async fn a_server_may_serve_two_listeners_and_ends_at_both() {
    let server = builder(&Probe::new()).build().unwrap();
    let mut serving = Vec::new();
    let mut addresses = Vec::new();
    for _ in 0..2 {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        addresses.push(listener.local_addr().unwrap());
        serving.push(tokio::spawn(server.clone().serve_with(listener)));
    }
    for address in addresses {
        let mut connection = Connection::open(address).await;
        connection.send(&Message::request("tools/list")).await;
        assert_eq!(connection.reply().await.status, 200);
    }
    assert!(server.handle().shutdown().await.is_graceful());
    for served in serving {
        assert!(served.await.unwrap().is_ok());
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_not_arrived_is_refused_and_holds_nothing_up() {
    let probe = Probe::new();
    let served = Served::in_memory(builder(&probe));
    let mut half = served.connect().await;
    half.write(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n").await;
    half.write(b"accept: */*\r\ncontent-length: 10\r\n\r\n{").await;
    let mut head = served.connect().await;
    head.write(b"POST /mcp HTTP/1.1\r\nhost: local").await;
    let silent = served.connect().await;
    tokio::time::sleep(seconds(1)).await;
    let report = served.handle().shutdown().await;
    assert!(report.is_graceful(), "{report:?}");
    assert!(report.duration < seconds(1), "{report:?}");
    assert_eq!(half.reply().await.status, 503);
    assert!(served.ended().await.is_ok());
    drop((head, silent));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_its_answer_is_cut_off_and_counted() {
    let probe = Probe::new();
    let served = Served::in_memory(builder(&probe));
    let mut stalled = served.connect_with_buffer(64);
    stalled.send(&Message::request("tools/list")).await;
    tokio::time::sleep(seconds(1)).await;
    let report = served.handle().shutdown().await;
    assert_eq!((report.running, report.connections_closed), (0, 1), "{report:?}");
    assert_eq!(report.duration, seconds(18));
    assert!(served.ended().await.is_ok());
    drop(stalled);
}
