//! Endpoints that serve some of the revisions, and the client of the test kit.

use mcp_runtime::{McpServer, prelude::*, testing::Client};
use mcp_tests::{Message, REVISION, Served};
use serde_json::json;

use super::{BOTH, Everything, JUNE, NOVEMBER, call, everything, initialize, only, request, result};

/// Only the old ones.
#[mcp_endpoint(path = "/old", name = "old", version = "1.0.0", revisions("2025-06-18", "2025-11-25"))]
struct Old;

#[mcp_endpoint]
impl Old {
    #[mcp_tool]
    async fn echo(text: String) -> String {
        text
    }
}

#[tokio::test]
async fn an_endpoint_of_2026_tells_older_clients_what_it_serves() {
    let served = Served::start(only([Revision::V2026_07_28])).await;
    for message in [
        initialize(NOVEMBER),
        request(NOVEMBER, "tools/list", json!({})),
        request(NOVEMBER, "ping", json!({})),
        request(NOVEMBER, "initialize", json!({})),
    ] {
        let reply = served.send(&message).await;
        assert_eq!(reply.refusal(), (400, -32022), "{message:?}");
        assert_eq!(reply.error()["data"], json!({ "supported": [REVISION], "requested": NOVEMBER }));
    }
    let bare = request("", "tools/list", json!({})).without("mcp-protocol-version");
    assert_eq!(served.send(&bare).await.refusal(), (400, -32020));
    let discovered = served.send(&Message::request("server/discover")).await.result();
    assert_eq!(discovered["supportedVersions"], json!([REVISION]));
}

#[tokio::test]
async fn an_endpoint_of_2025_tells_newer_clients_what_it_serves() {
    let served = Served::start(McpServer::builder().endpoint(Old)).await;
    for method in ["server/discover", "tools/list"] {
        let reply = served.send(&Message::request(method).path("/old")).await;
        assert_eq!(reply.refusal(), (400, -32022));
        assert_eq!(reply.error()["data"], json!({ "supported": [NOVEMBER, JUNE], "requested": REVISION }));
    }
    for revision in BOTH {
        let reply = served.send(&initialize(revision).path("/old")).await;
        assert_eq!(result(revision, &reply)["protocolVersion"], revision);
        let reply = served.send(&call(revision, "echo", json!({ "text": "hi" })).path("/old")).await;
        assert_eq!(reply.text(), "hi");
    }
    let agreed = served.send(&initialize(REVISION).path("/old")).await;
    assert_eq!(result(NOVEMBER, &agreed)["protocolVersion"], NOVEMBER);
}

#[tokio::test]
async fn all_revisions_are_served_unless_some_are_chosen() {
    let all = json!([REVISION, NOVEMBER, JUNE]);
    let served = Served::start(everything()).await;
    let discovered = served.send(&Message::request("server/discover")).await.result();
    assert_eq!(discovered["supportedVersions"], all);
    let unknown = Message::request("tools/list")
        .meta(mcp_tests::PROTOCOL_VERSION, "1900-01-01")
        .header("mcp-protocol-version", "1900-01-01");
    assert_eq!(served.send(&unknown).await.error()["data"]["supported"], all);

    let june = Served::start(only([Revision::V2025_06_18, Revision::V2026_07_28])).await;
    let refused = june.send(&request(NOVEMBER, "tools/list", json!({}))).await;
    assert_eq!(refused.refusal(), (400, -32022));
    assert_eq!(refused.error()["data"]["supported"], json!([REVISION, JUNE]));
    assert_eq!(june.send(&request(JUNE, "tools/list", json!({}))).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn the_test_client_speaks_every_revision() {
    let server = everything().build().unwrap();
    for revision in Revision::ALL {
        let client = Client::new(&server)
            .revision(revision)
            .client_info("me", "1")
            .capabilities(json!({ "roots": {} }));
        let who = client.call("who").await.unwrap();
        assert_eq!(
            who.structured::<serde_json::Value>(),
            json!({ "revision": revision.as_str(), "client": "me", "roots": true })
        );
        assert_eq!(who.result().get("resultType").is_some(), revision.is_modern());
        assert_eq!(client.list_tools().await.unwrap().len(), 9);
        let worked = client.call("work").with_progress().await.unwrap();
        assert_eq!((worked.progress().len(), &*worked.text()), (3, "worked"));
        // Whoever says something else of itself begins anew.
        let other = client.call("who").capabilities(json!({})).await.unwrap();
        assert_eq!(other.structured::<serde_json::Value>()["roots"], false);
        assert_eq!(client.call("who").await.unwrap().structured::<serde_json::Value>()["roots"], true);
        assert_eq!(client.discover().await.is_ok(), revision.is_modern());
        // With the capability that is declared there, it can be called.
        let able = client.clone().capabilities(json!({ "sampling": {} }));
        assert_eq!(able.call("demanding").await.unwrap().text(), "satisfied");
    }
}

#[tokio::test(start_paused = true)]
async fn the_test_client_is_told_that_its_revision_is_not_served() {
    let server = only([Revision::V2026_07_28]).build().unwrap();
    let client = Client::new(&server).revision(Revision::V2025_11_25);
    assert_eq!(client.call("echo").arg("text", "hi").await.unwrap_err().code, -32022);
    let client = client.revision(Revision::V2026_07_28);
    assert_eq!(client.call("echo").arg("text", "hi").await.unwrap().text(), "hi");
}

#[tokio::test(start_paused = true)]
async fn initialize_can_be_looked_at() {
    let server = McpServer::builder().endpoint(Everything).build().unwrap();
    let client = Client::new(&server).revision(Revision::V2025_06_18);
    let answer = client.request("initialize", super::introduction(JUNE)).await.unwrap();
    assert_eq!(answer.result()["serverInfo"]["title"], "Legacy");
    assert_eq!(client.call("echo").arg("text", "hi").await.unwrap().text(), "hi");
}
