//! Connections under `serve`: HTTP/1.1 and HTTP/2, and the bounds of both.

use std::io;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{self, SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_tests::{Message, Served, eventually, seconds};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::server;

fn echo(text: &str) -> Message {
    Message::call("echo", json!({ "text": text }))
}

#[tokio::test]
async fn a_connection_serves_one_request_after_another() {
    let served = Served::start(server()).await;
    let mut connection = served.connect().await;
    for text in ["one", "two", "three"] {
        connection.send(&echo(text)).await;
        assert_eq!(connection.reply().await.text(), text);
    }
    // Neither a refusal nor the end of a stream ends it.
    connection.send(&echo("four").body("{")).await;
    assert_eq!(connection.reply().await.status, 400);
    connection.send(&Message::call("counting", json!({})).progress_token(1)).await;
    assert_eq!(connection.reply().await.events().len(), 4);
    connection.send(&Message::request("tools/list")).await;
    assert_eq!(connection.reply().await.status, 200);
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_their_order() {
    let served = Served::start(server()).await;
    let mut connection = served.connect().await;
    let wire: Vec<u8> = (0..20).flat_map(|n| echo(&n.to_string()).id(n).to_wire()).collect();
    connection.write(&wire).await;
    for n in 0..20 {
        let reply = connection.reply().await;
        assert_eq!((&reply.json()["id"], reply.text()), (&json!(n), n.to_string()));
    }
}

#[tokio::test]
async fn a_request_may_come_byte_by_byte() {
    let served = Served::start(server()).await;
    let mut connection = served.connect().await;
    for byte in echo("slow").to_wire() {
        connection.write(&[byte]).await;
    }
    assert_eq!(connection.reply().await.text(), "slow");
}

#[tokio::test]
async fn a_client_that_expects_to_be_asked_for_its_body_is_asked() {
    let served = Served::start(server()).await;
    let mut connection = served.connect().await;
    let wire = echo("asked").header("expect", "100-continue").to_wire();
    let body = wire.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
    connection.write(&wire[..body]).await;
    assert_eq!(connection.head().await.status, 100);
    connection.write(&wire[body..]).await;
    assert_eq!(connection.reply().await.text(), "asked");
}

#[tokio::test]
async fn what_is_no_http_is_refused() {
    let served = Served::start(server()).await;
    let mut connection = served.connect().await;
    connection.write(b"\x16\x03\x01 hello?\r\n\r\n").await;
    assert_eq!(connection.head().await.status, 400);
    assert!(connection.is_closed().await);
}

#[tokio::test]
async fn headers_are_bounded() {
    let served = Served::start(server().max_header_bytes(8192)).await;
    assert_eq!(served.send(&echo("hi").header("x-padding", "x".repeat(6000))).await.text(), "hi");
    let mut connection = served.connect().await;
    connection.send(&echo("hi").header("x-padding", "x".repeat(9000))).await;
    assert_eq!(connection.head().await.status, 431);
    assert!(connection.is_closed().await);
}

#[tokio::test(start_paused = true)]
async fn a_connection_on_which_no_request_comes_is_closed() {
    let served = Served::in_memory(server());
    let began = tokio::time::Instant::now();
    for first in [&b""[..], b"POST /mcp HTTP/1.1\r\nhost: local"] {
        let mut connection = served.connect().await;
        connection.write(first).await;
        assert!(connection.is_closed().await);
    }
    assert_eq!(began.elapsed(), seconds(60), "30 seconds each");
}

#[tokio::test(start_paused = true)]
async fn connections_beyond_the_most_wait_for_a_place() {
    let served = Served::in_memory(server().max_connections(1));
    let mut first = served.connect().await;
    first.send(&echo("first")).await;
    assert_eq!(first.reply().await.text(), "first");
    let mut second = served.connect().await;
    second.send(&echo("second")).await;
    let waits = tokio::time::timeout(seconds(5), second.reply()).await;
    assert!(waits.is_err(), "{waits:?}");
    drop(first);
    let mut third = served.connect().await;
    third.send(&echo("third")).await;
    drop(second);
    assert_eq!(third.reply().await.text(), "third");
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_fails_is_asked_again() {
    let served = Served::in_memory(server());
    let began = tokio::time::Instant::now();
    served.fail_to_accept(io::ErrorKind::ConnectionReset.into());
    assert_eq!(served.send(&echo("at once")).await.text(), "at once");
    assert_eq!(began.elapsed(), seconds(0));
    served.fail_to_accept(io::Error::other("too many open files"));
    assert_eq!(served.send(&echo("later")).await.text(), "later");
    assert_eq!(began.elapsed(), seconds(1));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_cut_off() {
    let served = Served::in_memory(server().max_connections(1));
    let mut stalled = served.connect_with_buffer(512);
    let large = echo(&"x".repeat(100_000)).to_wire();
    let writing = tokio::spawn(async move {
        stalled.write(&large).await;
        stalled
    });
    let stalled = writing.await.unwrap();
    // The only place becomes free without anything being read.
    let began = tokio::time::Instant::now();
    assert_eq!(served.send(&echo("next")).await.text(), "next");
    assert_eq!(began.elapsed(), seconds(30));
    drop(stalled);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_its_events_is_cut_off() {
    let served = Served::in_memory(server());
    let mut stalled = served.connect_with_buffer(64);
    let wire = Message::call("endless", json!({})).progress_token(1).to_wire();
    let writing = tokio::spawn(async move {
        stalled.write(&wire).await;
        stalled
    });
    let _stalled = writing.await.unwrap();
    eventually("it runs", || served.handle().running() == 1).await;
    let began = tokio::time::Instant::now();
    // A head of more than 64 bytes is on its way already.
    while served.handle().running() > 0 {
        tokio::time::sleep(seconds(1)).await;
    }
    assert!((29..=31).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
}

/// An HTTP/2 connection, by prior knowledge.
async fn http2(served: &Served) -> SendRequest<Full<Bytes>> {
    let stream = tokio::net::TcpStream::connect(served.address()).await.expect("the server listens");
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("HTTP/2");
    tokio::spawn(connection);
    sender
}

/// A message as an HTTP/2 client sends it: the host is in the target.
fn modern(message: Message, authority: &str) -> Request<Full<Bytes>> {
    let mut request = message.without("host").to_request();
    *request.uri_mut() = format!("http://{authority}{}", request.uri().path()).parse().expect("a URI");
    request
}

async fn over_http2(
    sender: &mut SendRequest<Full<Bytes>>,
    request: Request<Full<Bytes>>,
) -> (StatusCode, Value) {
    let (head, body) = sender.send_request(request).await.expect("a response").into_parts();
    let body = body.collect().await.expect("the whole body").to_bytes();
    (head.status, serde_json::from_slice(&body).expect("JSON"))
}

#[tokio::test]
async fn http_2_serves_many_requests_at_once() {
    let served = Served::start(server()).await;
    let sender = http2(&served).await;
    let calls = (0..50).map(|n| {
        let mut sender = sender.clone();
        tokio::spawn(
            async move { over_http2(&mut sender, modern(echo(&n.to_string()).id(n), "localhost")).await },
        )
    });
    for (n, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        let (status, answer) = call.await.unwrap();
        assert_eq!((status.as_u16(), &answer["id"]), (200, &json!(n)));
        assert_eq!(answer["result"]["content"][0]["text"], n.to_string());
    }
}

#[tokio::test]
async fn http_2_is_checked_like_http_1() {
    let served = Served::start(server()).await;
    let mut sender = http2(&served).await;
    for (request, status, code) in [
        (modern(echo("x"), "evil.example.com"), 403, -32600),
        (modern(echo("x").header("mcp-name", "other"), "localhost"), 400, -32020),
        (modern(echo("x").body("{"), "localhost"), 400, -32700),
        (modern(Message::request("nothing"), "localhost"), 404, -32601),
    ] {
        let (found, answer) = over_http2(&mut sender, request).await;
        assert_eq!((found.as_u16(), &answer["error"]["code"]), (status, &json!(code)));
    }
}

#[tokio::test]
async fn a_stream_that_http_2_resets_cancels_its_call() {
    let served = Served::start(server()).await;
    let mut sender = http2(&served).await;
    let message = Message::call("endless", json!({})).progress_token("p");
    let response = sender.send_request(modern(message, "localhost")).await.unwrap();
    let mut body = response.into_body();
    let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!(frame.starts_with(b"data: {"), "{frame:?}");
    assert_eq!(served.handle().running(), 1);
    drop(body);
    eventually("the call ends", || served.handle().running() == 0).await;
    // The connection goes on.
    let (status, _) = over_http2(&mut sender, modern(echo("x"), "localhost")).await;
    assert_eq!(status, 200);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_http_2_does_not_read_ends_its_connection() {
    let served = Served::in_memory(server());
    let pipe = TokioIo::new(served.pipe(1 << 20));
    let mut client = http2::Builder::new(TokioExecutor::new());
    let (mut sender, connection) = client.initial_stream_window_size(1 << 16).handshake(pipe).await.unwrap();
    let connection = tokio::spawn(connection);
    let large = modern(echo(&"x".repeat(1 << 20)), "localhost");
    let unread = sender.send_request(large).await.unwrap();
    let began = tokio::time::Instant::now();
    let ended = tokio::time::timeout(seconds(120), connection).await;
    assert!(ended.is_ok(), "it is kept alive for an answer that nobody reads");
    assert!((29..=31).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    drop(unread);
}

#[tokio::test(start_paused = true)]
async fn the_preface_of_http_2_may_come_in_pieces() {
    let served = Served::in_memory(server());
    let mut pipe = served.pipe(1 << 16);
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let empty_settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    for byte in preface.iter().chain(&empty_settings) {
        pipe.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    // The server's own settings come first.
    let mut frame = [0; 9];
    pipe.read_exact(&mut frame).await.unwrap();
    assert_eq!(frame[3], 4, "{frame:?}");
}
