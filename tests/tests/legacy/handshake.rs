//! `initialize`, and what belongs to no request.

use mcp_tests::{Message, REVISION, Served};
use serde_json::json;

use super::{BOTH, JUNE, NOVEMBER, assert_of, everything, initialize, introduction, only, request, result};
use mcp_runtime::prelude::Revision;

#[tokio::test]
async fn the_proposed_revision_is_agreed_upon_without_a_session() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        let reply = served.send(&initialize(revision)).await;
        assert_eq!(reply.json()["id"], 1);
        let mut info = json!({ "name": "legacy", "version": "1.2.3", "title": "Legacy" });
        if revision == NOVEMBER {
            info["description"] = "Tests.".into();
            info["websiteUrl"] = "https://example.com/".into();
            info["icons"] = json!([{ "src": "https://example.com/i.png" }]);
        }
        let expected = json!({
            "protocolVersion": revision,
            "capabilities": { "tools": {}, "prompts": {}, "resources": {}, "completions": {} },
            "serverInfo": info,
            "instructions": "Ask.",
        });
        assert_eq!(result(revision, &reply), expected);
    }
}

#[tokio::test]
async fn what_is_not_served_by_handshake_is_countered_with_the_newest_that_is() {
    let served = Served::start(everything()).await;
    for proposed in [REVISION, "2025-03-26", "1900-01-01", "2030-01-01", ""] {
        let agreed = &result(NOVEMBER, &served.send(&initialize(proposed)).await)["protocolVersion"];
        assert_eq!(agreed, NOVEMBER, "{proposed}");
    }
    let june = Served::start(only([Revision::V2025_06_18, Revision::V2026_07_28])).await;
    let agreed = &result(JUNE, &june.send(&initialize(NOVEMBER)).await)["protocolVersion"];
    assert_eq!(agreed, JUNE);
}

#[tokio::test]
async fn headers_do_not_switch_the_era_of_initialize() {
    let served = Served::start(everything()).await;
    for message in [
        initialize(NOVEMBER).header("mcp-protocol-version", NOVEMBER),
        initialize(NOVEMBER).header("mcp-protocol-version", JUNE),
        initialize(NOVEMBER).header("mcp-protocol-version", NOVEMBER).header("mcp-method", "initialize"),
        initialize(NOVEMBER).header("mcp-method", "something/else").header("mcp-name", "else"),
        initialize(NOVEMBER).header("mcp-protocol-version", REVISION),
        initialize(NOVEMBER).header("mcp-session-id", "of-another-server"),
    ] {
        assert_eq!(result(NOVEMBER, &served.send(&message).await)["protocolVersion"], NOVEMBER);
    }
    let unknown = initialize(NOVEMBER).header("mcp-protocol-version", "2025-03-26");
    assert_eq!(served.send(&unknown).await.refusal(), (400, -32022));
}

#[tokio::test]
async fn an_introduction_is_complete() {
    let served = Served::start(everything()).await;
    let broken = json!({ "protocolVersion": 7, "clientInfo": { "name": "n" } });
    let reply = served.send(&initialize(NOVEMBER).set("/params", broken)).await;
    assert_eq!(reply.refusal(), (200, -32602));
    assert_eq!(
        reply.faults(),
        ["/params/protocolVersion", "/params/capabilities", "/params/clientInfo/version"]
    );
    // It is a question like any other, and may be asked again.
    for _ in 0..2 {
        result(NOVEMBER, &served.send(&initialize(NOVEMBER)).await);
    }
}

#[tokio::test]
async fn ping_is_answered_with_nothing() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        let reply = served.send(&request(revision, "ping", json!({}))).await;
        assert_eq!(reply.json(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        let without_params = request(revision, "ping", json!({})).unset("/params");
        assert_eq!(served.send(&without_params).await.result(), json!({}));
    }
}

#[tokio::test]
async fn every_notification_is_taken_without_a_body() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        for method in [
            "notifications/initialized",
            "notifications/cancelled",
            "notifications/roots/list_changed",
            "any/other",
        ] {
            let plain = request(revision, method, json!({ "requestId": 1 })).unset("/id");
            let odd = plain.clone().header("mcp-method", "initialize");
            for message in [plain.clone().without("mcp-protocol-version"), plain, odd] {
                let reply = served.send(&message).await;
                assert_eq!((reply.status, &*reply.body), (202, &b""[..]), "{method}");
            }
        }
    }
}

#[tokio::test]
async fn streams_and_sessions_are_not_offered() {
    let served = Served::start(everything()).await;
    for verb in ["GET", "DELETE"] {
        let message =
            request(NOVEMBER, "ping", json!({})).verb(verb).body("").header("accept", "text/event-stream");
        let reply = served.send(&message).await;
        assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")));
    }
}

#[tokio::test]
async fn both_eras_share_a_path() {
    let served = Served::start(everything()).await;
    let mut connection = served.connect().await;
    for _ in 0..2 {
        connection.send(&Message::call("echo", json!({ "text": "new" }))).await;
        let reply = connection.reply().await;
        assert_eq!((&reply.result()["resultType"], &*reply.text()), (&json!("complete"), "new"));
        for revision in BOTH {
            connection.send(&super::call(revision, "echo", json!({ "text": "old" }))).await;
            let reply = connection.reply().await;
            assert_eq!(result(revision, &reply), json!({ "content": [{ "type": "text", "text": "old" }] }));
        }
    }
    // Metadata that names a revision makes a request modern, whatever its headers say.
    let mixed = Message::call("echo", json!({ "text": "?" })).header("mcp-protocol-version", NOVEMBER);
    assert_eq!(served.send(&mixed).await.refusal(), (400, -32020));
    let initialize = Message::request("initialize").set("/params/protocolVersion", NOVEMBER);
    assert_eq!(served.send(&initialize).await.refusal(), (404, -32601));
}

#[tokio::test]
async fn without_a_header_the_newest_of_the_older_revisions_is_spoken() {
    let served = Served::start(everything()).await;
    let who = super::call(NOVEMBER, "who", json!({})).without("mcp-protocol-version");
    let known = served.send(&who.clone().header("mcp-method", "tools/call").header("mcp-name", "who")).await;
    assert_eq!(
        known.result()["structuredContent"],
        json!({ "revision": NOVEMBER, "client": null, "roots": false })
    );
    let june = Served::start(only([Revision::V2025_06_18])).await;
    let list = request(JUNE, "tools/list", json!({})).without("mcp-protocol-version");
    assert_of(JUNE, &june.send(&list).await.json());
    assert_eq!(june.send(&list).await.status, 200);
}

#[tokio::test]
async fn nothing_of_the_client_is_remembered_over_http() {
    let served = Served::start(everything()).await;
    let mut connection = served.connect().await;
    connection.send(&initialize(NOVEMBER)).await;
    result(NOVEMBER, &connection.reply().await);
    let claims = json!({
        "io.modelcontextprotocol/clientCapabilities": { "roots": {} },
        "io.modelcontextprotocol/clientInfo": introduction(NOVEMBER)["clientInfo"],
    });
    let who = super::call(JUNE, "who", json!({})).set("/params/_meta", claims);
    connection.send(&who).await;
    let known = result(JUNE, &connection.reply().await);
    assert_eq!(known["structuredContent"], json!({ "revision": JUNE, "client": null, "roots": false }));
}
