//! Subscriptions that share standard input and output.

use std::process::Stdio;

use mcp_tests::{CAPABILITIES, PROTOCOL_VERSION, REVISION, seconds};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

/// A client of a process.
struct Peer {
    process: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Peer {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_listens_on_stdio"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the server starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("its output")).lines();
        Self { process, input, output }
    }

    async fn send(&mut self, message: Value) {
        let input = self.input.as_mut().expect("its input is open");
        input.write_all(format!("{message}\n").as_bytes()).await.expect("it reads");
    }

    async fn request(&mut self, id: impl Into<Value>, method: &str, mut params: Value) {
        params["_meta"] = json!({ PROTOCOL_VERSION: REVISION, CAPABILITIES: {} });
        self.send(json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })).await;
    }

    async fn listen(&mut self, id: impl Into<Value>, uris: &[&str]) {
        let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": uris });
        self.request(id, "subscriptions/listen", json!({ "notifications": filter })).await;
    }

    async fn cancel(&mut self, id: impl Into<Value>) {
        let params = json!({ "requestId": id.into() });
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
    }

    /// Calls a tool, whose answer must be the next message that is about no subscription. Returns its text, and what
    /// came before it.
    async fn call(&mut self, tool: &str, arguments: Value) -> (String, Vec<Value>) {
        self.request("call", "tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let mut before = Vec::new();
        loop {
            let message = self.receive().await;
            if message["id"] == "call" {
                return (
                    message["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
                    before,
                );
            }
            before.push(message);
        }
    }

    /// The next message; `None` at the end of the output.
    async fn next(&mut self) -> Option<Value> {
        let line = timeout(seconds(20), self.output.next_line()).await.expect("a message in time");
        line.expect("text").map(|line| serde_json::from_str(&line).expect("one message a line"))
    }

    async fn receive(&mut self) -> Value {
        self.next().await.expect("a message")
    }

    async fn acknowledged(&mut self, id: impl Into<Value>) {
        let message = self.receive().await;
        assert_eq!(message["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(tag(&message), id.into());
    }
}

fn tag(message: &Value) -> Value {
    let of = if message.get("result").is_some() { &message["result"] } else { &message["params"] };
    of["_meta"]["io.modelcontextprotocol/subscriptionId"].clone()
}

fn updated(id: impl Into<Value>, uri: &str) -> Value {
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": id.into() });
    json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "_meta": meta, "uri": uri } })
}

/// The two messages by which the server ends a subscription here, in this order.
fn end(id: impl Into<Value>) -> [Value; 2] {
    let id = id.into();
    let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
    [
        json!({ "jsonrpc": "2.0", "id": id, "result": { "resultType": "complete", "_meta": meta } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
    ]
}

#[tokio::test]
async fn subscriptions_share_the_channel_and_are_told_apart_by_the_exact_id() {
    let mut peer = Peer::start();
    peer.listen(1, &["note://1", "note://both"]).await;
    peer.acknowledged(1).await;
    peer.listen("1", &["note://2", "note://both"]).await;
    peer.acknowledged("1").await;
    for (uri, expected) in [
        ("note://1", vec![json!(1)]),
        ("note://2", vec![json!("1")]),
        ("note://both", vec![json!(1), json!("1")]),
    ] {
        let (_, mut told) = peer.call("touch", json!({ "uri": uri })).await;
        while told.len() < expected.len() {
            told.push(peer.receive().await);
        }
        told.sort_by_key(|message| tag(message).is_string());
        assert_eq!(told, expected.into_iter().map(|id| updated(id, uri)).collect::<Vec<_>>());
    }
    assert_eq!(peer.call("open", json!({})).await.0, "2");
}

#[tokio::test]
async fn a_client_ends_one_subscription_by_a_notification_and_hears_no_more_of_it() {
    let mut peer = Peer::start();
    for id in [1, 2] {
        peer.listen(id, &["note://1"]).await;
        peer.acknowledged(id).await;
    }
    peer.cancel(1).await;
    let (_, mut told) = peer.call("touch", json!({ "uri": "note://1" })).await;
    if told.is_empty() {
        told.push(peer.receive().await);
    }
    assert_eq!(told, [updated(2, "note://1")]);
    assert_eq!(peer.call("open", json!({})).await, ("1".to_owned(), Vec::new()));
    // Its id is free again.
    peer.listen(1, &["note://1"]).await;
    peer.acknowledged(1).await;
    peer.cancel(1).await;
    peer.cancel(2).await;
    peer.cancel(3).await;
    assert_eq!(peer.call("touch", json!({ "uri": "note://1" })).await.1, [Value::Null; 0]);
}

#[tokio::test]
async fn an_id_that_is_in_flight_is_taken() {
    let mut peer = Peer::start();
    peer.listen("l", &["note://1"]).await;
    peer.acknowledged("l").await;
    peer.listen("l", &["note://2"]).await;
    let refused = peer.receive().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("l"), &json!(-32600)));
    let (_, mut told) = peer.call("touch", json!({ "uri": "note://1" })).await;
    if told.is_empty() {
        told.push(peer.receive().await);
    }
    assert_eq!(told, [updated("l", "note://1")]);
}

#[tokio::test]
async fn an_end_by_the_server_is_the_result_and_then_the_notification() {
    let mut peer = Peer::start();
    peer.listen("denied", &["note://1"]).await;
    peer.acknowledged("denied").await;
    peer.listen("allowed", &[]).await;
    peer.acknowledged("allowed").await;
    let (_, mut told) = peer.call("deny", json!({})).await;
    while told.len() < 2 {
        told.push(peer.receive().await);
    }
    assert_eq!(told, end("denied"));
    assert_eq!(peer.call("open", json!({})).await, ("1".to_owned(), Vec::new()));
    // The id is free again, and what was denied stays so.
    peer.listen("denied", &["note://1"]).await;
    let refused = peer.receive().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("denied"), &json!(-32600)));
}

#[tokio::test]
async fn the_end_of_the_input_ends_all_subscriptions_and_then_the_process() {
    let mut peer = Peer::start();
    for id in 0..20 {
        peer.listen(id, &["note://1"]).await;
        peer.acknowledged(id).await;
    }
    peer.input = None;
    let mut messages = Vec::new();
    while let Some(message) = peer.next().await {
        messages.push(message);
    }
    assert_eq!(messages.len(), 40, "{messages:?}");
    for id in 0..20 {
        let of_this = |message: &&Value| message["id"] == id || message["params"]["requestId"] == id;
        let found: Vec<Value> = messages.iter().filter(of_this).cloned().collect();
        assert_eq!(found, end(id));
    }
    let status = timeout(seconds(20), peer.process.wait()).await.expect("it ends").expect("it ran");
    assert!(status.success(), "{status}");
}
