//! The end of a process that serves: on a signal, once its work is done.

#![cfg(unix)]

use std::{net::SocketAddr, process::Stdio};

use mcp_tests::{Connection, Event, Message, no_longer_listening};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
};

/// Starts a server; it says where it listens.
async fn start(program: &str) -> (Child, SocketAddr) {
    let mut process = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the server starts");
    let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
    let address = lines.next_line().await.ok().flatten().and_then(|line| line.parse().ok());
    (process, address.expect("its address"))
}

async fn signal(process: &Child, signal: &str) {
    let id = process.id().expect("it runs").to_string();
    let sent = Command::new("kill").args([signal, &id]).status().await;
    assert!(sent.is_ok_and(|status| status.success()), "kill {signal} {id}");
}

async fn ends_on(name: &str) {
    let (mut process, address) = start(env!("CARGO_BIN_EXE_until_told")).await;
    let mut connection = Connection::open(address).await;
    connection.send(&Message::call("wait_for_a_line", json!({})).progress_token("p")).await;
    assert_eq!(connection.head().await.status, 200);
    assert_eq!(connection.event().await.as_ref().and_then(Event::progress), Some(1.0));

    signal(&process, name).await;
    // It listens no more, and its work goes on.
    no_longer_listening(address).await;
    let mut input = process.stdin.take().expect("its input");
    input.write_all(b"go on\n").await.expect("it reads");
    let answer = connection.event().await.and_then(Event::into_message).expect("an answer");
    assert_eq!(answer["result"]["content"][0]["text"], "go on");
    assert!(process.wait().await.is_ok_and(|status| status.success()));
}

#[tokio::test]
async fn sigterm_ends_it_gracefully() {
    ends_on("-TERM").await;
}

#[tokio::test]
async fn ctrl_c_ends_it_gracefully() {
    ends_on("-INT").await;
}

/// With the default features only: the server has a schema that the others don't enforce.
#[cfg(feature = "constraints")]
#[tokio::test]
async fn sigterm_ends_every_stream_with_its_result() {
    use std::time::Instant;

    use mcp_tests::seconds;

    const STREAMS: u64 = 900;
    /// Graceful and forced shutdown, and some time to start and end.
    const BUDGET: u64 = 9;

    let (mut process, address) = start(env!("CARGO_BIN_EXE_everything")).await;
    let mut streams = Vec::new();
    for number in 0..STREAMS {
        let id = if number % 2 == 0 { json!(number) } else { json!(format!("listen-{number}")) };
        let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["bench://item/7"] });
        let mut connection = Connection::open(address).await;
        connection.send(&Message::listen(filter).id(id.clone())).await;
        assert_eq!(connection.head().await.status, 200);
        let acknowledged = connection.event().await.and_then(Event::into_message).expect("a message");
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        streams.push((id, connection));
    }

    let told = Instant::now();
    signal(&process, "-TERM").await;
    for (id, connection) in &mut streams {
        let answer = connection.event().await.and_then(Event::into_message).expect("a message");
        assert_eq!(answer["id"], *id);
        assert_eq!(answer["result"]["resultType"], "complete");
        assert_eq!(answer["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], *id);
        assert_eq!(connection.event().await, None, "the body ends with the result");
    }
    let read = told.elapsed();
    // The connections are still open at this end.
    let exit = tokio::time::timeout(seconds(20), process.wait()).await.expect("an end").expect("a status");
    let ended = told.elapsed();
    println!("{STREAMS} streams: results after {read:.0?}, exit after {ended:.0?}");
    assert!(exit.success(), "{exit}");
    assert!(ended <= seconds(BUDGET), "{ended:?}");
}
