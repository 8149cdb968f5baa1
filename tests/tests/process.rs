//! The end of a process that serves: on a signal, once its work is done.

#![cfg(unix)]

use std::{net::SocketAddr, process::Stdio};

use mcp_tests::{Connection, Event, Message, no_longer_listening};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
};

/// Starts the server; it says where it listens.
async fn start() -> (Child, SocketAddr) {
    let mut process = Command::new(env!("CARGO_BIN_EXE_until_told"))
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
    let (mut process, address) = start().await;
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
