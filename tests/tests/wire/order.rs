//! The order of the checks: the first group that fails decides, and admission hides everything behind it.

use std::time::Duration;

use mcp_runtime::{RateLimit, RateLimited, prelude::*, server::ServerBuilder};
use mcp_tests::{CAPABILITIES, Local, Message, PROTOCOL_VERSION, Stream};
use serde_json::json;

use super::server;

/// Admits who has a name in `x-caller`.
struct Named;

impl Admission for Named {
    async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        let name = request.headers().get("x-caller").and_then(|name| name.to_str().ok());
        name.map(Caller::identified).ok_or_else(|| Denied::unauthorized("Bearer"))
    }
}

/// Refuses callers whose name says so.
struct Refuse(&'static str);

impl RateLimit for Refuse {
    async fn check(&self, request: &RateLimited<'_>) -> Result<(), Duration> {
        let refused = request.caller.id().is_some_and(|id| id.contains(self.0));
        if refused { Err(Duration::from_secs(1)) } else { Ok(()) }
    }
}

fn guarded() -> ServerBuilder {
    server()
        .admission(Named)
        .request_rate_limit(Refuse("hasty"))
        .tool_rate_limit(Refuse("toolish"))
        .max_body_bytes(100_000)
        .max_concurrent_handlers(1)
        .max_blocking_handlers(1)
        .handler_queue(0)
}

/// Takes the only place, until it is dropped.
async fn hold_the_place(local: &Local) -> Stream {
    let held = Message::call("endless", json!({})).header("x-caller", "first").progress_token(1);
    let stream = local.open(&held).await;
    assert_eq!(local.handle().running(), 1);
    stream
}

/// One group of checks: what breaks a message for it, and how that is refused.
struct Group {
    name: &'static str,
    break_it: fn(Message) -> Message,
    refusal: (u16, i64),
    says: &'static str,
}

const fn group(
    name: &'static str,
    refusal: (u16, i64),
    says: &'static str,
    break_it: fn(Message) -> Message,
) -> Group {
    Group { name, break_it, refusal, says }
}

/// The last check first: every group breaks the message further, and is told instead of all before it.
const GROUPS: [Group; 18] = [
    group("queue", (503, -32603), "too many requests", |message| message),
    group("tool limit", (429, -31999), "slow down", |message| message.header("x-caller", "toolish")),
    group("capabilities", (400, -32021), "roots", |message| {
        message.meta(CAPABILITIES, json!({ "sampling": {} }))
    }),
    // Parameters that don't fit are a result, so they have a test of their own below.
    group("target", (200, -32602), "unknown tool", |message| {
        message.set("/params/name", "nothing").header("mcp-name", "nothing")
    }),
    group("method", (404, -32601), "is not served", |message| {
        message.set("/method", "tools/dance").header("mcp-method", "tools/dance")
    }),
    group("request limit", (429, -31999), "slow down", |message| message.header("x-caller", "hasty toolish")),
    group("admission", (401, -32600), "authentication", |message| message.without("x-caller")),
    group("metadata", (400, -32602), "_meta", |message| message.progress_token(1.5)),
    group("revision", (400, -32022), "1999-01-01", |message| {
        message.meta(PROTOCOL_VERSION, "1999-01-01").header("mcp-protocol-version", "1999-01-01")
    }),
    group("standard headers", (400, -32020), "headers", |message| message.header("mcp-method", "other")),
    group("envelope", (400, -32600), "not a valid request", |message| message.set("/jsonrpc", "1.0")),
    group("JSON", (400, -32700), "not JSON", |message| message.body("{")),
    group("content type", (415, -32600), "application/json", |message| {
        message.header("content-type", "text/plain")
    }),
    group("accept", (406, -32600), "Accept", |message| message.header("accept", "text/html")),
    group("HTTP method", (405, -32600), "POST", |message| message.verb("PUT")),
    group("Origin", (403, -32600), "origin", |message| message.header("origin", "https://evil.example.com")),
    group("Host", (403, -32600), "host", |message| message.header("host", "evil.example.com")),
    group("path", (404, -32600), "no endpoint", |message| message.path("/nowhere")),
];

#[tokio::test]
async fn the_first_group_that_fails_decides() {
    let local = Local::guarded(guarded());
    let _held = hold_the_place(&local).await;
    let both = json!({ "sampling": {}, "roots": {} });
    let mut message =
        Message::call("demanding", json!({})).header("x-caller", "polite").meta(CAPABILITIES, both);
    for Group { name, break_it, refusal, says } in GROUPS {
        message = break_it(message);
        let reply = local.send(&message).await;
        assert_eq!(reply.refusal(), refusal, "{name}: {reply:?}");
        let error = reply.error();
        assert!(error["message"].as_str().is_some_and(|text| text.contains(says)), "{name}: {error}");
    }
}

#[tokio::test]
async fn a_body_that_is_declared_too_large_is_refused_before_anything_else_of_its_endpoint() {
    let local = Local::guarded(guarded());
    let message = Message::call("demanding", json!({}))
        .header("content-length", "100001")
        .header("host", "evil.example.com")
        .verb("PUT");
    assert_eq!(local.send(&message).await.refusal(), (413, -32600));
}

#[tokio::test]
async fn mirrored_arguments_come_before_arguments_and_those_before_capabilities_and_limits() {
    let local = Local::guarded(guarded());
    let _held = hold_the_place(&local).await;
    let message = Message::call("ship", json!({ "count": "many" })).header("x-caller", "toolish");
    assert_eq!(local.send(&message).await.refusal(), (400, -32020));
    let message = message.header("mcp-param-count", "many");
    assert!(local.send(&message).await.failure().contains("count"));

    let message = Message::call("demanding", json!({ "extra": 1 })).header("x-caller", "toolish");
    assert!(local.send(&message).await.failure().contains("extra"));
}

#[tokio::test]
async fn who_is_not_admitted_does_not_learn_what_exists() {
    let local = Local::guarded(guarded());
    let body = async |message| local.send(&message).await.body;
    for [existing, unknown] in [
        [Message::call("echo", json!({ "text": "" })), Message::call("nothing", json!({}))],
        [Message::read("wire://text"), Message::read("wire://nothing")],
        [Message::prompt("greeting", json!({})), Message::prompt("nothing", json!({}))],
        [Message::request("tools/list"), Message::request("tools/dance")],
        [Message::request("server/discover"), Message::request("nothing")],
    ] {
        let [existing, unknown] = [body(existing).await, body(unknown).await];
        assert_eq!(existing, unknown, "{}", String::from_utf8_lossy(&existing));
    }
}

#[tokio::test]
async fn notifications_are_admitted_and_limited_like_requests() {
    let local = Local::guarded(guarded());
    let message = Message::notification("notifications/cancelled");
    assert_eq!(local.send(&message).await.refusal(), (401, -32600));
    assert_eq!(local.send(&message.clone().header("x-caller", "hasty")).await.refusal(), (429, -31999));
    assert_eq!(local.send(&message.header("x-caller", "polite")).await.status, 202);
}
