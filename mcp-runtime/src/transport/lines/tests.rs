//! Whole connections, over pipes in memory.

use std::{collections::HashMap, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex},
    task::JoinHandle,
    time::{Instant, timeout},
};

use super::*;
use crate::{
    engine::{Admission, AdmissionChoice, AdmissionRequest, Denied, Limits},
    handler::Caller,
    prelude::{ChangeKind, ChangePublisher, Endpoint, McpServer, Tool},
    protocol::keys,
    subscription::allow_all,
    transport::samples::{self, Event, call},
};

/// A client and the connection that serves it.
struct Peer {
    input: DuplexStream,
    output: BufReader<DuplexStream>,
    serving: JoinHandle<io::Result<()>>,
}

impl Peer {
    fn connect(engine: &Live) -> Self {
        Self::with_room(engine, 1 << 20)
    }

    /// With room for so many bytes that nobody has read.
    fn with_room(engine: &Live, room: usize) -> Self {
        let (engine, (input, theirs), (ours, output)) = (engine.clone(), duplex(1 << 20), duplex(room));
        let serving = tokio::spawn(async move { serve(&engine, theirs, ours, || ()).await });
        Self { input, output: BufReader::new(output), serving }
    }

    async fn send(&mut self, lines: impl AsRef<str>) {
        self.input.write_all(lines.as_ref().as_bytes()).await.unwrap();
    }

    async fn cancel(&mut self, id: impl Into<Value>) {
        let params = json!({ "requestId": id.into(), "reason": "enough" });
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.send(format!("{message}\n")).await;
    }

    /// The next message; `None` at the end.
    async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).await.unwrap();
        (read > 0).then(|| serde_json::from_str(&line).expect("one message a line"))
    }

    async fn receive(&mut self) -> Value {
        self.next().await.expect("a message")
    }

    /// Nothing more has been sent than what was read.
    async fn assert_silent(&mut self) {
        let silence = timeout(Duration::from_secs(1), self.next()).await;
        assert!(silence.is_err(), "unexpected: {silence:?}");
    }

    /// Calls `echo`, whose answer must be the next message.
    async fn assert_alive(&mut self) {
        self.send(call("alive", "echo", &json!({ "text": "yes" }))).await;
        assert_eq!(text(&self.receive().await), ("\"alive\"".to_owned(), "yes"));
    }

    async fn end(mut self) -> io::Result<()> {
        drop(self.input);
        let mut rest = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut self.output, &mut rest).await.unwrap();
        assert_eq!(rest, "");
        self.serving.await.unwrap()
    }
}

/// The id of an answer and its text.
fn text(answer: &Value) -> (String, &str) {
    let text = answer["result"]["content"][0]["text"].as_str();
    (answer["id"].to_string(), text.unwrap_or_else(|| panic!("no text: {answer}")))
}

/// The code of an error, and its id if it has one.
fn error(answer: &Value) -> (i64, Option<&Value>) {
    (answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}")), answer.get("id"))
}

fn connect(change: impl FnOnce(&mut Limits)) -> (Peer, mpsc::UnboundedReceiver<Event>, Live) {
    let (engine, events) = samples::engine(change);
    (Peer::connect(&engine), events, engine)
}

#[tokio::test(start_paused = true)]
async fn many_requests_run_side_by_side_and_each_answer_follows_its_progress() {
    let (mut peer, ..) = connect(|_| ());
    for id in 0..20 {
        peer.send(call(id, "count", &json!({ "number": 50 }))).await;
    }
    let mut progress: HashMap<String, u64> = HashMap::new();
    let mut answered = 0;
    while answered < 20 {
        let message = peer.receive().await;
        if message["method"] == "notifications/progress" {
            let last = progress.entry(message["params"]["progressToken"].to_string()).or_default();
            *last += 1;
            assert_eq!(message["params"]["progress"], *last);
        } else {
            let (id, text) = text(&message);
            assert_eq!((text, progress.insert(id, 0)), ("counted", Some(50)));
            answered += 1;
        }
    }
    assert!(progress.values().all(|count| *count == 0), "progress after an answer: {progress:?}");
    peer.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_is_signalled_and_never_heard_of_again() {
    let (mut peer, mut events, engine) = connect(|_| ());
    peer.send(call(1, "hang", &json!({}))).await;
    assert_eq!(peer.receive().await["params"], json!({ "progressToken": 1, "progress": 1 }));
    assert_eq!(events.recv().await, Some(Event::Started));
    let began = Instant::now();
    peer.cancel(1).await;
    assert_eq!(events.recv().await, Some(Event::Cancelled(CancellationReason::ClientCancelled)));
    assert_eq!(began.elapsed(), Duration::ZERO);
    peer.assert_silent().await;
    peer.assert_alive().await;
    assert_eq!(engine.now().shared.gate.running(), 0);
    peer.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_cancelled_in_the_same_breath_does_not_start() {
    let (mut peer, mut events, _) = connect(|_| ());
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#;
    peer.send(format!("{}{cancel}\n", call("a", "hang", &json!({})))).await;
    peer.assert_alive().await;
    assert!(events.try_recv().is_err());
    peer.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_of_nothing_in_flight_is_ignored() {
    let (mut peer, mut events, _) = connect(|_| ());
    peer.send(call(1, "hang", &json!({}))).await;
    peer.receive().await;
    assert_eq!(events.recv().await, Some(Event::Started));
    peer.assert_alive().await;
    for id in [json!(2), json!("1"), json!("alive"), json!(null), json!(1.5), json!({})] {
        peer.cancel(id).await;
    }
    for params in ["[1]", "null", "{}", "7"] {
        peer.send(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#))
            .await;
        peer.send("\n").await;
    }
    peer.assert_silent().await;
    peer.assert_alive().await;
    assert!(events.try_recv().is_err(), "the request in flight goes on");
}

#[tokio::test(start_paused = true)]
async fn an_id_in_flight_is_taken_until_it_is_answered() {
    let (mut peer, ..) = connect(|_| ());
    peer.send(call(1, "wait", &json!({ "number": 5 }))).await;
    peer.send(call(1, "echo", &json!({}))).await;
    assert_eq!(error(&peer.receive().await), (-32600, Some(&json!(1))));
    peer.send(call("1", "echo", &json!({ "text": "another" }))).await;
    assert_eq!(text(&peer.receive().await).1, "another");
    assert_eq!(text(&peer.receive().await).1, "waited");
    for tool in ["count", "echo", "count"] {
        peer.send(call(1, tool, &json!({ "number": 1 }))).await;
        while peer.receive().await.get("result").is_none() {}
    }
    peer.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_no_request_is_answered_with_its_id_where_it_has_one() {
    let (mut peer, ..) = connect(|_| ());
    let ambiguous = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}"#;
    for (line, code, id) in [
        ("no json", -32700, None),
        ("{", -32700, None),
        ("\u{feff}{}", -32700, None),
        ("[]", -32600, None),
        ("3", -32600, None),
        ("{}", -32600, None),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600, None),
        (ambiguous, -32600, None),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, -32600, Some(json!(7))),
        (r#"{"jsonrpc":"1.0","id":"x","method":"tools/list"}"#, -32600, Some(json!("x"))),
        (r#"{"jsonrpc":"2.0","id":8,"method":"tools/list"}"#, -32602, Some(json!(8))),
    ] {
        peer.send(format!("{line}\n")).await;
        assert_eq!(error(&peer.receive().await), (code, id.as_ref()), "{line}");
    }
    peer.assert_alive().await;
    peer.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn notifications_and_blank_lines_are_never_answered() {
    let (mut peer, ..) = connect(|_| ());
    for line in [
        "",
        "\r",
        "  \t ",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"hang"}}"#,
        r#"{"jsonrpc":"1.0","method":"notifications/whatever"}"#,
        r#"{"method":4}"#,
    ] {
        peer.send(format!("{line}\n")).await;
    }
    peer.assert_silent().await;
    peer.send(call(1, "echo", &json!({ "text": "windows" })).replace('\n', "\r\n")).await;
    assert_eq!(text(&peer.receive().await).1, "windows");
    peer.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_line_beyond_the_limit_is_refused_and_skipped() {
    let (mut peer, ..) = connect(|limits| limits.max_body_bytes = 1000);
    peer.send(format!("{}\n", "x".repeat(100_000))).await;
    let refused = peer.receive().await;
    assert_eq!(error(&refused), (-32600, None));
    assert!(refused["error"]["message"].as_str().unwrap().contains("1000 bytes"), "{refused}");
    peer.assert_alive().await;
    peer.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn line_breaks_inside_of_a_message_are_taken_out() {
    let (mut peer, ..) = connect(|_| ());
    peer.send(call(1, "pretty", &json!({}))).await;
    assert_eq!(peer.receive().await["result"]["structuredContent"], json!({ "a": "\n" }));
    peer.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_told() {
    let (mut peer, mut events, _) = connect(|limits| limits.request_timeout = Duration::from_secs(2));
    peer.send(call(1, "wait", &json!({ "number": 100 }))).await;
    peer.send(call(2, "hang", &json!({}))).await;
    assert_eq!(peer.receive().await["method"], "notifications/progress");
    let answers = [peer.receive().await, peer.receive().await];
    assert!(answers.iter().all(|answer| error(answer).0 == -32603), "{answers:?}");
    assert_eq!(events.recv().await, Some(Event::Started));
    assert_eq!(events.recv().await, Some(Event::Cancelled(CancellationReason::DeadlineExceeded)));
    peer.assert_alive().await;
}

#[tokio::test(start_paused = true)]
async fn no_more_is_read_than_the_server_has_room_for() {
    let (mut peer, _, engine) =
        connect(|limits| (limits.max_concurrent_handlers, limits.handler_queue) = (1, 1));
    for id in 1..=4 {
        peer.send(call(id, "wait", &json!({ "number": 10 }))).await;
    }
    let began = Instant::now();
    for id in 1..=4 {
        assert_eq!(text(&peer.receive().await), (id.to_string(), "waited"), "nothing is refused");
        assert_eq!(began.elapsed(), Duration::from_secs(10 * id));
        assert!(engine.now().shared.gate.waiting() <= 1);
    }
    peer.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_lets_what_runs_finish() {
    let (engine, _) = samples::engine(|_| ());
    let (mut input, theirs) = duplex(1 << 20);
    let (ours, mut output) = duplex(1 << 20);
    input.write_all(call(1, "wait", &json!({ "number": 5 })).as_bytes()).await.unwrap();
    drop(input);
    let began = Instant::now();
    let mut ended = None;
    serve(&engine, theirs, ours, || ended = Some(began.elapsed())).await.unwrap();
    assert_eq!((ended, began.elapsed()), (Some(Duration::ZERO), Duration::from_secs(5)));
    let mut answer = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut output, &mut answer).await.unwrap();
    assert_eq!(text(&serde_json::from_str(&answer).unwrap()).1, "waited");
}

#[tokio::test(start_paused = true)]
async fn a_draining_server_reads_no_more_and_a_cancelling_one_answers_at_once() {
    let (mut peer, mut events, engine) = connect(|_| ());
    peer.send(call(1, "wait", &json!({ "number": 5 }))).await;
    peer.send(call(2, "hang", &json!({}))).await;
    assert_eq!(peer.receive().await["method"], "notifications/progress");
    engine.now().shared.lifecycle.advance(Phase::Draining);
    yield_now().await;
    peer.send(call(3, "echo", &json!({}))).await;
    assert_eq!(text(&peer.receive().await).1, "waited");
    engine.now().shared.lifecycle.advance(Phase::Cancelling);
    assert_eq!(error(&peer.receive().await), (-32603, Some(&json!(2))));
    assert_eq!(events.recv().await, Some(Event::Started));
    assert_eq!(events.recv().await, Some(Event::Cancelled(CancellationReason::ShuttingDown)));
    assert_eq!(peer.next().await, None);
    peer.serving.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_stopped_server_waits_for_nobody() {
    let (engine, _) = samples::engine(|_| ());
    let mut peer = Peer::with_room(&engine, 16);
    peer.send(call(1, "echo", &json!({ "text": "nobody reads this" }))).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    engine.now().shared.lifecycle.advance(Phase::Stopped);
    peer.serving.await.unwrap().unwrap();
    let mut report = crate::ShutdownReport::default();
    engine.now().shared.lifecycle.fill(&mut report);
    assert_eq!(report.connections_closed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_stops_reading_is_given_up() {
    let (engine, mut events) = samples::engine(|limits| limits.write_timeout = Duration::from_secs(30));
    let mut peer = Peer::with_room(&engine, 16);
    let began = Instant::now();
    peer.send(call(1, "hang", &json!({}))).await;
    let failed = peer.serving.await.unwrap().unwrap_err();
    assert_eq!((failed.kind(), began.elapsed()), (io::ErrorKind::TimedOut, Duration::from_secs(30)));
    assert_eq!(events.recv().await, Some(Event::Started));
    assert_eq!(events.recv().await, Some(Event::Cancelled(CancellationReason::WriteStalled)));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_dropped_takes_its_requests_along() {
    let (mut peer, mut events, engine) = connect(|_| ());
    peer.send(call(1, "hang", &json!({}))).await;
    assert_eq!(peer.receive().await["method"], "notifications/progress");
    peer.serving.abort();
    assert_eq!(events.recv().await, Some(Event::Started));
    assert_eq!(events.recv().await, Some(Event::Cancelled(CancellationReason::ClientDisconnected)));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(engine.now().shared.gate.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_panic_outside_of_a_handler_costs_one_request() {
    struct Panics;
    impl Admission for Panics {
        async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
            assert_ne!(request.target(), Some("hang"), "a secret of the server");
            Ok(Caller::anonymous())
        }
    }
    let (engine, _) = samples::engine_with(|_| (), AdmissionChoice::new(Panics));
    let mut peer = Peer::connect(&engine);
    peer.send(call(1, "hang", &json!({}))).await;
    let answer = peer.receive().await;
    assert_eq!(error(&answer), (-32603, Some(&json!(1))));
    assert!(!answer.to_string().contains("secret"), "{answer}");
    peer.assert_alive().await;
    peer.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_is_given_up_while_the_channel_is_full_is_ended_for_its_client() {
    const STREAMS: usize = 60;
    let endpoint = Endpoint::builder("/mcp").tool(Tool::new("t").handler(async || "t"));
    let endpoint = endpoint.changes([ChangeKind::Tools]);
    let server =
        McpServer::builder().endpoint(endpoint).subscription_authorizer(allow_all()).build().unwrap();
    let mut peer = Peer::with_room(&server.endpoints[0], 64);
    let meta = json!({ keys::PROTOCOL_VERSION: "2026-07-28", keys::CLIENT_CAPABILITIES: {} });
    for id in 0..STREAMS {
        let params = json!({ "_meta": meta, "notifications": { "toolsListChanged": true } });
        let listen =
            json!({ "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params });
        peer.send(format!("{listen}\n")).await;
        assert_eq!(peer.receive().await["method"], "notifications/subscriptions/acknowledged");
    }
    // All have something to say, most of them wait for room, and have more to say then.
    for _ in 0..2 {
        server.publisher().tools_changed().unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    // The client reads, too slowly for them and not for the channel.
    let mut read = Vec::new();
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_secs(20)).await;
        read.extend_from_slice(peer.output.fill_buf().await.unwrap());
        let length = peer.output.buffer().len();
        peer.output.consume(length);
    }
    let stalled = server.subscriptions().ended(EndReason::Stalled);
    assert!(stalled > 0, "{:?}", server.subscriptions());
    while let Ok(rest) = timeout(Duration::from_secs(1), peer.output.fill_buf()).await {
        read.extend_from_slice(rest.unwrap());
        let length = peer.output.buffer().len();
        peer.output.consume(length);
    }
    let messages: Vec<Value> =
        String::from_utf8(read).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    let results = messages.iter().filter(|message| message["result"]["resultType"] == "complete");
    let cancelled = messages.iter().filter(|message| message["method"] == "notifications/cancelled");
    assert_eq!((results.count(), cancelled.count()), (stalled, stalled));
    assert_eq!(server.subscriptions().open(), STREAMS - stalled);
}
