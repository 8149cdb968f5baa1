//! A plain tool call, measured against the least that an axum handler could do for the same request.
//!
//! `cargo bench -p mcp-tests` starts both servers on loopback, each on a thread of its own, and calls them in turns
//! over keep-alive connections. Only the ratio means anything: both numbers carry the same load generator.

use std::{
    thread,
    time::{Duration, Instant},
};

use axum::{Router, body::Bytes, http::header, response::IntoResponse, routing::post};
use mcp_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

const CONNECTIONS: usize = 16;
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(1500);

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

/// Adds two integers.
#[mcp_tool(read_only)]
async fn add(a: i64, b: i64) -> Json<Sum> {
    Json(Sum { sum: a + b })
}

/// The same answer from a handler that checks nothing.
async fn floor(body: Bytes) -> impl IntoResponse {
    #[derive(Deserialize)]
    struct Call<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        arguments: Arguments,
    }
    #[derive(Deserialize)]
    struct Arguments {
        a: i64,
        b: i64,
    }
    let call: Call<'_> = serde_json::from_slice(&body).expect("the bench sends valid calls");
    let (id, sum) = (call.id, call.params.arguments.a + call.params.arguments.b);
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[{{"type":"text","text":"{{\"sum\":{sum}}}"}}],"structuredContent":{{"sum":{sum}}}}}}}"#
    );
    ([(header::CONTENT_TYPE, "application/json")], answer)
}

/// Runs a server on a thread of its own; returns where.
fn start<F: Future<Output = ()>>(
    server: impl FnOnce(TcpListener) -> F + Send + 'static,
) -> std::net::SocketAddr {
    let (tell, told) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            tell.send(listener.local_addr().expect("an address")).expect("the bench waits");
            server(listener).await;
        });
    });
    told.recv().expect("the server starts")
}

/// Calls in a closed loop; returns how many calls were answered.
async fn load(address: std::net::SocketAddr) -> u64 {
    let body = r#"{"jsonrpc":"2.0","id":1234567890,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"add","arguments":{"a":1234567890,"b":1234567890}}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let end = Instant::now() + ROUND;
    let mut clients = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let request = request.clone();
        clients.spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("the server listens");
            let (mut buffer, mut calls) = (vec![0; 4096], 0);
            while Instant::now() < end {
                stream.write_all(request.as_bytes()).await.expect("the server reads");
                let mut filled = 0;
                while !buffer[..filled].ends_with(b"}}") && !buffer[..filled].ends_with(b"}}}") {
                    filled += stream.read(&mut buffer[filled..]).await.expect("the server answers");
                }
                assert!(
                    buffer.starts_with(b"HTTP/1.1 200"),
                    "{}",
                    String::from_utf8_lossy(&buffer[..filled])
                );
                calls += 1;
            }
            calls
        });
    }
    clients.join_all().await.into_iter().sum()
}

fn main() {
    let ours = start(|listener| async {
        McpServer::from_annotations().serve_with(listener).await.expect("the server is valid");
    });
    let bare = start(|listener| async {
        axum::serve(listener, Router::new().route("/mcp", post(floor))).await.expect("axum serves");
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut ratios = Vec::new();
    for round in 0..=ROUNDS {
        let (floor, framework) = (runtime.block_on(load(bare)), runtime.block_on(load(ours)));
        // The first round warms up.
        if round > 0 {
            let ratio = framework as f64 / floor as f64;
            let rate = |calls: u64| calls as f64 / ROUND.as_secs_f64();
            println!(
                "round {round}: bare axum {:6.0}/s, framework {:6.0}/s, ratio {ratio:.2}",
                rate(floor),
                rate(framework)
            );
            ratios.push(ratio);
        }
    }
    ratios.sort_by(f64::total_cmp);
    println!("tools/call, framework against bare axum, median of {ROUNDS} rounds: {:.2}", ratios[ROUNDS / 2]);
}
