//! How requests of the older revisions fail.

use std::time::Duration;

use mcp_runtime::{McpServer, RateLimit, RateLimited, prelude::*};
use mcp_tests::{Local, Probe, Served, endpoint, seconds};
use serde_json::json;
use tokio::time::timeout;

use super::{BOTH, JUNE, NOVEMBER, call, everything, led, request, result};

#[tokio::test]
async fn what_was_taken_is_answered_with_200_whatever_it_comes_to() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        for (message, code) in [
            (request(revision, "tools/lists", json!({})), -32601),
            (request(revision, "tools/call", json!({})), -32602),
            (request(revision, "tools/call", json!({ "name": "echo", "arguments": [] })), -32602),
            (call(revision, "nothing", json!({})), -32602),
            (call(revision, "panics", json!({})), -32603),
            (request(revision, "prompts/get", json!({ "name": "nothing" })), -32602),
            (request(revision, "prompts/get", json!({ "name": "greet" })), -32602),
            (request(revision, "completion/complete", json!({})), -32602),
            (request(revision, "resources/read", json!({})), -32602),
        ] {
            let reply = served.send(&message).await;
            assert_eq!(reply.refusal(), (200, code), "{message:?}");
            assert_eq!(reply.json()["id"], 1);
        }
        for uri in ["legacy://nothing", "legacy://items/0"] {
            let reply = served.send(&request(revision, "resources/read", json!({ "uri": uri }))).await;
            assert_eq!(reply.refusal(), (200, -32002));
            assert_eq!(reply.error()["data"], json!({ "uri": uri }));
        }
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_the_model_since_november() {
    let served = Served::start(everything()).await;
    let wrong = |revision| call(revision, "echo", json!({ "text": 7 }));
    let told = result(NOVEMBER, &served.send(&wrong(NOVEMBER)).await);
    assert_eq!(told["isError"], true);
    let refused = served.send(&wrong(JUNE)).await;
    assert_eq!(refused.refusal(), (200, -32602));
    assert_eq!(refused.faults(), ["text"]);
}

#[tokio::test]
async fn a_capability_that_cannot_be_declared_is_missing_in_the_words_of_the_revision() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        let reply = served.send(&call(revision, "demanding", json!({}))).await;
        assert_eq!(reply.refusal(), (200, -32602));
        assert_eq!(reply.error()["data"], json!({ "requiredCapabilities": { "sampling": {} } }));
    }
}

#[tokio::test]
async fn what_is_no_request_is_refused_by_http() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        let ping = || request(revision, "ping", json!({}));
        let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#;
        for (message, refusal) in [
            (ping().body("{"), (400, -32700)),
            (ping().body(batch), (400, -32600)),
            (ping().set("/jsonrpc", "1.0"), (400, -32600)),
            (ping().id(json!(null)), (400, -32600)),
            (ping().body(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), (400, -32600)),
            (ping().header("mcp-protocol-version", "2025-03-26"), (400, -32022)),
            (ping().header("mcp-protocol-version", "latest"), (400, -32022)),
            (ping().also("mcp-protocol-version", revision), (400, -32020)),
            (ping().header("content-type", "text/plain"), (415, -32600)),
            (ping().header("accept", "text/html"), (406, -32600)),
            (ping().header("host", "evil.example.com"), (403, -32600)),
            (ping().header("origin", "http://evil.example.com"), (403, -32600)),
        ] {
            assert_eq!(served.send(&message).await.refusal(), refusal, "{message:?}");
        }
    }
    let unsupported = request("2025-03-26", "ping", json!({}));
    let data = json!({ "supported": ["2026-07-28", NOVEMBER, JUNE], "requested": "2025-03-26" });
    assert_eq!(served.send(&unsupported).await.error()["data"], data);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_a_200_and_no_capacity_a_503() {
    let probe = Probe::new();
    let builder = McpServer::builder().endpoint(endpoint().tool(led())).state(probe.clone());
    let local = Local::new(builder.max_concurrent_handlers(1).max_blocking_handlers(1).handler_queue(0));
    for revision in BOTH {
        let message = call(revision, "led", json!({}));
        let mut running = Box::pin(local.send(&message));
        assert!(timeout(seconds(1), &mut running).await.is_err());
        let full = local.send(&message).await;
        assert_eq!((full.refusal(), full.header("retry-after")), ((503, -32603), Some("1")));
        assert_eq!(running.await.refusal(), (200, -32603));
        assert!(probe.has("DeadlineExceeded"));
        probe.permit();
        mcp_tests::eventually("its place is free", || local.handle().running() == 0).await;
    }
}

#[tokio::test]
async fn whoever_is_too_fast_or_not_admitted_is_told_as_ever() {
    struct Never;
    impl RateLimit for Never {
        async fn check(&self, _: &RateLimited<'_>) -> Result<(), Duration> {
            Err(seconds(2))
        }
    }
    let message = || call(NOVEMBER, "echo", json!({ "text": "hi" }));
    for builder in [everything().request_rate_limit(Never), everything().tool_rate_limit(Never)] {
        let reply = Served::start(builder).await.send(&message()).await;
        assert_eq!((reply.refusal(), reply.header("retry-after")), ((429, -31999), Some("2")));
    }

    struct Nobody;
    impl Admission for Nobody {
        async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
            assert!(!request.revision().is_modern());
            Err(Denied::unauthorized("who are you?"))
        }
    }
    let served = Served::start(everything().admission(Nobody)).await;
    for revision in BOTH {
        assert_eq!(served.send(&call(revision, "echo", json!({}))).await.refusal(), (401, -32600));
        assert_eq!(served.send(&super::initialize(revision)).await.refusal(), (401, -32600));
    }
}
