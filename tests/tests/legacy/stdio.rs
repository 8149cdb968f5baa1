//! A byte stream is one conversation, and `initialize` opens it.

use std::process::Stdio;

use mcp_tests::{CAPABILITIES, PROTOCOL_VERSION, REVISION};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use super::{BOTH, JUNE, NOVEMBER, assert_of, introduction};

/// A client of a process.
struct Peer {
    _process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Peer {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_legacy_on_stdio"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the server starts");
        let input = process.stdin.take().expect("its input");
        let output = BufReader::new(process.stdout.take().expect("its output")).lines();
        Self { _process: process, input, output }
    }

    async fn send(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.expect("it reads");
    }

    async fn request(&mut self, id: u32, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
    }

    async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(mcp_tests::seconds(20), self.output.next_line()).await;
        let line = line.expect("in time").expect("readable").expect("a message");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.request(7, method, params).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], 7, "{answer}");
        answer
    }

    async fn who(&mut self) -> Value {
        self.ask("tools/call", json!({ "name": "who" })).await["result"]["structuredContent"].take()
    }
}

#[tokio::test]
async fn a_handshake_fixes_revision_client_and_capabilities() {
    for revision in BOTH {
        let mut peer = Peer::start();
        let opened = peer.ask("initialize", introduction(revision)).await;
        assert_eq!(opened["result"]["protocolVersion"], revision);
        assert_of(revision, &opened);
        peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        assert_eq!(peer.who().await, json!({ "revision": revision, "client": "old", "roots": true }));

        let list = peer.ask("tools/list", json!({})).await;
        assert_of(revision, &list);
        assert_eq!(list["result"].as_object().map(|members| members.len()), Some(1));
        assert_eq!(peer.ask("ping", json!({})).await["result"], json!({}));
        assert_eq!(peer.ask("server/discover", json!({})).await["error"]["code"], -32601);
        // What was agreed upon holds.
        let again = peer.ask("initialize", introduction(NOVEMBER)).await;
        assert_eq!(again["error"]["code"], -32600);
        assert_eq!(peer.who().await["revision"], revision);
    }
}

#[tokio::test]
async fn modern_requests_stay_possible_and_speak_for_themselves() {
    let mut peer = Peer::start();
    let modern = || json!({ PROTOCOL_VERSION: REVISION, CAPABILITIES: {} });
    let discovered = peer.ask("server/discover", json!({ "_meta": modern() })).await;
    assert_eq!(discovered["result"]["supportedVersions"], json!([REVISION, NOVEMBER, JUNE]));
    peer.ask("initialize", introduction(REVISION)).await;
    let who = peer.ask("tools/call", json!({ "name": "who", "_meta": modern() })).await;
    assert_eq!(who["result"]["resultType"], "complete");
    assert_eq!(
        who["result"]["structuredContent"],
        json!({ "revision": REVISION, "client": null, "roots": false })
    );
    assert_eq!(peer.who().await, json!({ "revision": NOVEMBER, "client": "old", "roots": true }));
}

#[tokio::test]
async fn before_the_handshake_there_is_ping() {
    let mut peer = Peer::start();
    assert_eq!(peer.ask("ping", json!({})).await["result"], json!({}));
    let early = peer.ask("tools/list", json!({})).await;
    assert_eq!(early["error"]["code"], -32602);
    assert!(early["error"]["message"].as_str().unwrap().contains("`initialize`"), "{early}");
    let broken = peer.ask("initialize", json!({})).await;
    assert_eq!(broken["error"]["code"], -32602);
    assert_eq!(peer.ask("tools/list", json!({})).await["error"]["code"], -32602, "nothing was opened");
    peer.ask("initialize", introduction(JUNE)).await;
    assert_eq!(peer.who().await["revision"], JUNE);
}

#[tokio::test]
async fn a_client_need_not_wait_for_the_answer() {
    for _ in 0..10 {
        let mut peer = Peer::start();
        peer.request(1, "initialize", introduction(JUNE)).await;
        peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        peer.request(2, "tools/call", json!({ "name": "who" })).await;
        assert_eq!(peer.receive().await["id"], 1);
        let who = peer.receive().await;
        assert_eq!((&who["id"], &who["result"]["structuredContent"]["revision"]), (&json!(2), &json!(JUNE)));
    }
}

#[tokio::test]
async fn a_notification_cancels_there() {
    let mut peer = Peer::start();
    peer.ask("initialize", introduction(NOVEMBER)).await;
    let params = json!({ "name": "hang", "_meta": { "progressToken": "p" } });
    peer.request(1, "tools/call", params).await;
    assert_eq!(peer.receive().await["method"], "notifications/progress");
    let params = json!({ "requestId": 1, "reason": "enough" });
    peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
    // It tells of its end, and is not answered.
    let told = peer.ask("tools/call", json!({ "name": "cancelled" })).await;
    assert_eq!(told["result"]["content"][0]["text"], "ClientCancelled");
}
