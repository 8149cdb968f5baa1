//! HTTP itself: paths, methods, media types, hosts, bodies, and what every response says.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Local, Message, Served, endpoint};
use serde_json::json;

use super::{server, serving};

fn echo() -> Message {
    Message::call("echo", json!({ "text": "hi" }))
}

/// Sends messages to a server, and expects the same refusal of each, without an id.
async fn all_refused(refusal: (u16, i64), messages: impl IntoIterator<Item = Message>) {
    let served = Served::start(server()).await;
    for message in messages {
        let reply = served.send(&message).await;
        assert_eq!(reply.refusal(), refusal, "{message:?}\n{reply:?}");
        assert_eq!(reply.json().get("id"), None, "{reply:?}");
    }
}

#[tokio::test]
async fn only_the_exact_path_is_an_endpoint() {
    let paths = ["/", "/mcp/", "/MCP", "/%6dcp", "//mcp", "/mcp/tools", "/m"];
    all_refused((404, -32600), paths.map(|path| echo().path(path))).await;
    let served = Served::start(server()).await;
    assert_eq!(served.send(&echo().path("/mcp?tenant=7")).await.text(), "hi");
}

#[tokio::test]
async fn every_path_has_its_own_endpoint() {
    let tool = |text: &'static str| Tool::new("who").handler(move || async move { text });
    let first = Endpoint::builder("/first").tool(tool("first"));
    let second = Endpoint::builder("/second/mcp").tool(tool("second"));
    let served = Served::start(McpServer::builder().endpoint(first).endpoint(second)).await;
    let who = Message::call("who", json!({}));
    assert_eq!(served.send(&who.clone().path("/first")).await.text(), "first");
    assert_eq!(served.send(&who.clone().path("/second/mcp")).await.text(), "second");
    assert_eq!(served.send(&who).await.status, 404);
}

#[tokio::test]
async fn only_post_is_allowed() {
    let served = Served::start(server()).await;
    for verb in ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "SUBSCRIBE", "post"] {
        let reply = served.send(&echo().verb(verb)).await;
        assert_eq!(reply.refusal(), (405, -32600), "{verb}");
        assert_eq!(reply.header("allow"), Some("POST"), "{verb}");
        assert_eq!(reply.json().get("id"), None, "{verb}");
    }
}

#[tokio::test]
async fn both_kinds_of_answer_must_be_acceptable() {
    let refused = [
        "application/json",
        "text/event-stream",
        "text/html",
        "application/json, text/event-stream;q=0",
        "*/*;q=0",
    ];
    let mut messages: Vec<Message> = refused.map(|accept| echo().header("accept", accept)).into();
    messages.push(echo().without("accept"));
    all_refused((406, -32600), messages).await;
    let served = Served::start(server()).await;
    for accept in ["*/*", "text/*, application/json", "Application/JSON;q=0.2,TEXT/event-stream"] {
        assert_eq!(served.send(&echo().header("accept", accept)).await.text(), "hi", "{accept}");
    }
    let lines = echo().header("accept", "application/json").also("accept", "text/event-stream");
    assert_eq!(served.send(&lines).await.text(), "hi");
}

#[tokio::test]
async fn the_body_must_be_json_in_utf_8() {
    let refused = ["text/plain", "application/json; charset=utf-16", "application/jsonl", "json", ""];
    let mut messages: Vec<Message> = refused.map(|kind| echo().header("content-type", kind)).into();
    messages.push(echo().without("content-type"));
    messages.push(echo().also("content-type", "application/json"));
    all_refused((415, -32600), messages).await;
    let served = Served::start(server()).await;
    for kind in ["application/json; charset=utf-8", "APPLICATION/JSON", "application/json;charset=\"UTF-8\""]
    {
        assert_eq!(served.send(&echo().header("content-type", kind)).await.text(), "hi", "{kind}");
    }
}

const LIMIT: usize = 1000;

/// A message of so many bytes.
fn of_size(bytes: usize) -> Message {
    let mut body = echo().bytes();
    body.resize(bytes, b' ');
    echo().body(body)
}

fn chunked(message: &Message, size: usize) -> Vec<u8> {
    let head = message.clone().header("transfer-encoding", "chunked").body("").to_wire();
    let mut wire = head;
    for chunk in message.bytes().chunks(size) {
        wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        wire.extend_from_slice(chunk);
        wire.extend_from_slice(b"\r\n");
    }
    wire.extend_from_slice(b"0\r\n\r\n");
    wire
}

#[tokio::test]
async fn a_body_of_just_the_limit_is_read_however_it_is_framed() {
    let served = Served::start(server().max_body_bytes(LIMIT)).await;
    assert_eq!(served.send(&of_size(LIMIT)).await.text(), "hi");
    for size in [1, 7, 999, LIMIT] {
        let mut connection = served.connect().await;
        connection.write(&chunked(&of_size(LIMIT), size)).await;
        assert_eq!(connection.reply().await.text(), "hi", "in chunks of {size}");
    }
}

#[tokio::test]
async fn a_large_message_goes_both_ways() {
    let served = Served::start(server()).await;
    let text = "\u{fc}\"\n".repeat(1 << 18);
    let reply = served.send(&Message::call("echo", json!({ "text": &text }))).await;
    assert!(reply.text() == text, "{} bytes came back", reply.body.len());
}

#[tokio::test]
async fn a_body_that_is_declared_too_large_is_refused_before_it_is_sent() {
    let served = Served::start(server().max_body_bytes(LIMIT)).await;
    for length in ["1001", "9223372036854775807"] {
        let mut connection = served.connect().await;
        connection.send(&echo().header("content-length", length).body("")).await;
        let reply = connection.reply().await;
        assert_eq!(reply.refusal(), (413, -32600));
        assert!(connection.is_closed().await, "what follows can't be told from the body");
    }
}

#[tokio::test]
async fn a_chunked_body_is_refused_as_soon_as_it_is_too_large() {
    let served = Served::start(server().max_body_bytes(LIMIT)).await;
    let mut connection = served.connect().await;
    let endless = chunked(&of_size(LIMIT + 1), 500);
    connection.write(endless.strip_suffix(b"0\r\n\r\n").unwrap()).await;
    assert_eq!(connection.reply().await.refusal(), (413, -32600));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_never_comes_is_given_up_at_the_deadline() {
    let served = Served::in_memory(server());
    let mut connection = served.connect().await;
    connection.send(&echo().header("content-length", "999").body("{")).await;
    let began = tokio::time::Instant::now();
    assert_eq!(connection.reply().await.refusal(), (408, -32600));
    assert_eq!(began.elapsed(), mcp_tests::seconds(60));
}

#[tokio::test]
async fn the_host_must_be_one_that_is_served() {
    let served = Served::start(server()).await;
    for host in ["evil.example.com", "localhost.evil.example.com", "10.0.0.1", "", "localhost:port"] {
        let reply = served.send(&echo().header("host", host)).await;
        assert_eq!(reply.refusal(), (403, -32600), "{host}");
        let message = reply.error()["message"].to_string();
        assert!(message.contains("allowed_hosts"), "{message}");
    }
    for host in ["localhost", "LocalHost:1234", "127.0.0.1:80", "[::1]:80"] {
        assert_eq!(served.send(&echo().header("host", host)).await.text(), "hi", "{host}");
    }
    all_refused((403, -32600), [echo().without("host"), echo().also("host", "localhost")]).await;
}

#[tokio::test]
async fn the_served_hosts_can_be_chosen() {
    let served = Served::start(server().allowed_hosts(["mcp.example.com", "api.example.com:8443"])).await;
    for host in ["mcp.example.com", "mcp.example.com:80", "API.example.com:8443"] {
        assert_eq!(served.send(&echo().header("host", host)).await.text(), "hi", "{host}");
    }
    for host in ["localhost", "api.example.com", "api.example.com:443", "x.mcp.example.com"] {
        assert_eq!(served.send(&echo().header("host", host)).await.status, 403, "{host}");
    }
}

#[tokio::test]
async fn a_foreign_origin_is_refused_and_told_what_would_allow_it() {
    let served = Served::start(server()).await;
    for origin in ["https://evil.example.com", "null", "http://localhost.evil.example.com", "localhost"] {
        let reply = served.send(&echo().header("origin", origin)).await;
        assert_eq!(reply.refusal(), (403, -32600), "{origin}");
        let message = reply.error()["message"].to_string();
        assert!(message.contains("allowed_origins") && message.contains(origin), "{message}");
    }
    let twice = echo().header("origin", "http://localhost").also("origin", "http://localhost");
    assert_eq!(served.send(&twice).await.status, 403);
    assert_eq!(served.send(&echo().header("origin", "http://localhost:3000")).await.text(), "hi");
}

#[tokio::test]
async fn foreign_origins_can_be_allowed_by_name() {
    let served = Served::start(server().allowed_origins(["https://app.example.com"])).await;
    let from = |origin: &str| echo().header("origin", origin);
    let reply = served.send(&from("https://app.example.com")).await;
    assert_eq!(reply.text(), "hi");
    assert_eq!(reply.header("access-control-allow-origin"), None, "that is another setting");
    for origin in ["http://app.example.com", "https://app.example.com:8443", "https://example.com"] {
        assert_eq!(served.send(&from(origin)).await.status, 403, "{origin}");
    }
}

#[tokio::test]
async fn an_accepted_notification_has_an_empty_answer() {
    let served = Served::start(server()).await;
    for method in ["notifications/cancelled", "notifications/initialized", "anything/else"] {
        let reply = served.send(&Message::notification(method)).await;
        assert_eq!((reply.status, &*reply.body), (202, &b""[..]), "{method}");
        assert_eq!(reply.header("content-type"), None);
    }
}

#[tokio::test]
async fn a_notification_that_is_none_is_refused_without_an_id() {
    let message = Message::notification("notifications/cancelled");
    let broken = [message.clone().set("/jsonrpc", "1"), message.set("/params", json!([]))];
    all_refused((400, -32600), broken).await;
}

#[tokio::test]
async fn no_response_may_be_kept_by_a_cache() {
    let served = Served::start(server()).await;
    for (message, status) in [
        (echo(), 200),
        (Message::call("endless", json!({})).progress_token(1), 200),
        (Message::notification("notifications/cancelled"), 202),
        (echo().body("{"), 400),
        (echo().header("host", "evil.example.com"), 403),
        (echo().path("/nowhere"), 404),
        (echo().verb("GET"), 405),
        (Message::call("panicking", json!({})), 500),
    ] {
        let mut connection = served.connect().await;
        connection.send(&message).await;
        let head = connection.head().await;
        assert_eq!((head.status, head.header("cache-control")), (status, Some("no-store")));
    }
}

#[tokio::test]
async fn a_stream_of_events_is_not_held_back_on_its_way() {
    let served = Served::start(server()).await;
    let mut connection = served.connect().await;
    connection.send(&Message::call("endless", json!({})).progress_token(1)).await;
    let head = connection.head().await;
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    assert_eq!(head.header("x-accel-buffering"), Some("no"));
    assert_eq!(connection.event().await.and_then(|event| event.progress()), Some(1.0));
    assert_eq!(served.send(&echo()).await.header("x-accel-buffering"), None);
}

#[tokio::test]
async fn sessions_and_resumption_of_older_revisions_are_ignored() {
    let served = Served::start(server()).await;
    let message = echo().header("mcp-session-id", "abc").header("last-event-id", "7");
    let reply = served.send(&message).await;
    assert_eq!(reply.text(), "hi");
    assert_eq!(reply.header("mcp-session-id"), None);
}

/// Knows one caller, and knows that they may not do anything.
struct Doorkeeper;

impl Admission for Doorkeeper {
    async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        match request.headers().get("authorization") {
            Some(_) => Err(Denied::forbidden("the shop is closed")),
            None => Err(Denied::unauthorized(r#"Bearer realm="shop""#).message("who are you?")),
        }
    }
}

#[tokio::test]
async fn who_is_not_known_gets_a_challenge_and_who_may_not_gets_none() {
    let local = Local::guarded(server().admission(Doorkeeper));
    let reply = local.send(&echo()).await;
    assert_eq!(reply.refusal(), (401, -32600));
    assert_eq!(reply.header("www-authenticate"), Some(r#"Bearer realm="shop""#));
    assert_eq!(reply.error()["message"], "who are you?");
    assert_eq!(reply.json()["id"], 1);
    let reply = local.send(&echo().header("authorization", "Bearer x")).await;
    assert_eq!(reply.refusal(), (403, -32600));
    assert_eq!(reply.header("www-authenticate"), None);
    assert_eq!(reply.error()["message"], "the shop is closed");
}

#[tokio::test]
async fn a_server_is_a_part_of_an_axum_application() {
    let endpoint =
        endpoint().tool(Tool::new("user").handler(async |Extension(user): Extension<String>| user));
    let mcp = serving(endpoint).admission(anonymous()).allowed_hosts(["localhost"]).into_router().unwrap();
    let app = axum::Router::new()
        .merge(mcp)
        .route("/health", axum::routing::get(async || "well"))
        .layer(axum::Extension("ada".to_owned()));
    let call = |message: Message| {
        let mut app = app.clone();
        async move {
            let request = message.to_request().map(axum::body::Body::new);
            let response = tower_service::Service::call(&mut app, request).await.unwrap();
            let (head, body) = response.into_parts();
            let body = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
            (head.status.as_u16(), String::from_utf8(body.to_vec()).unwrap())
        }
    };
    let (status, body) = call(Message::call("user", json!({}))).await;
    assert!(status == 200 && body.contains(r#""text":"ada""#), "{status} {body}");
    assert_eq!(call(echo().verb("GET").path("/health").body("")).await, (200, "well".to_owned()));
    let (status, body) = call(Message::request("tools/list").header("host", "evil.example.com")).await;
    assert!(status == 403 && body.contains("allowed_hosts"), "{status} {body}");
}
