//! What the older revisions know of each thing.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use mcp_runtime::{
    McpServer,
    prelude::*,
    protocol::Icon,
    registry::{CatalogItem, CatalogPolicy, CatalogView, ViewRequest},
    subscription::{BoxError, allow_all},
};
use mcp_tests::{Message, Served, endpoint};
use serde_json::{Value, json};

use super::{BOTH, JUNE, NOVEMBER, ask, call, everything, request, result};

async fn tool(served: &Served, revision: &str, name: &str) -> Value {
    let mut list = ask(served, revision, "tools/list", json!({})).await;
    let tools = list["tools"].as_array_mut().expect("tools");
    tools.iter_mut().find(|tool| tool["name"] == name).expect("the tool").take()
}

#[tokio::test]
async fn icons_came_in_november() {
    let served = Served::start(everything()).await;
    assert!(tool(&served, NOVEMBER, "echo").await.get("icons").is_some());
    assert!(tool(&served, JUNE, "echo").await.get("icons").is_none());
    assert_eq!(tool(&served, JUNE, "echo").await["title"], "Echo");
    for revision in BOTH {
        let linked = result(revision, &served.send(&call(revision, "link", json!({}))).await);
        assert_eq!(linked["content"][0].get("icons").is_some(), revision == NOVEMBER);
        assert_eq!(linked["_meta"], json!({ "example/extra": 1 }), "what is the application's own stays");
    }
}

#[tokio::test]
async fn structured_content_is_an_object_or_text_only() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        assert_eq!(tool(&served, revision, "say").await["outputSchema"]["type"], "object");
        let said = result(revision, &served.send(&call(revision, "say", json!({ "text": "hi" }))).await);
        assert_eq!(said["structuredContent"], json!({ "text": "hi", "loud": false }));
        assert_eq!(said["content"][0]["text"], r#"{"text":"hi","loud":false}"#);

        assert!(tool(&served, revision, "list").await.get("outputSchema").is_none());
        let listed = result(revision, &served.send(&call(revision, "list", json!({}))).await);
        assert_eq!(listed, json!({ "content": [{ "type": "text", "text": "[1,2]" }] }));
    }
    let listed = served.send(&Message::call("list", json!({}))).await;
    assert_eq!(listed.result()["structuredContent"], json!([1, 2]));
}

#[tokio::test]
async fn the_schema_of_a_property_is_an_object_and_speaks_of_no_header() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        let schema = &tool(&served, revision, "ship").await["inputSchema"];
        let properties = schema["properties"].as_object().expect("properties");
        assert_eq!(properties.len(), 2);
        assert!(properties.values().all(Value::is_object), "{schema}");
    }
    let modern = served.send(&Message::request("tools/list")).await.result();
    let ship = modern["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "ship").unwrap();
    assert_eq!(ship["inputSchema"]["properties"]["region"]["x-mcp-header"], "Region");
}

#[tokio::test]
async fn a_list_of_the_applications_own_has_the_same_form() {
    let entry = || {
        let mut entry = ResourceEntry::new("x://a", "a").title("A");
        entry.icons.push(Icon::new("https://example.com/i.png"));
        entry
    };
    let list = ResourceList::new().handler(move || {
        let entries = vec![entry(), entry()];
        async { entries }
    });
    let served = Served::start(McpServer::builder().endpoint(endpoint().resource_list(list))).await;
    for revision in BOTH {
        let page = ask(&served, revision, "resources/list", json!({})).await;
        assert_eq!(page.as_object().map(|members| members.len()), Some(1));
        assert_eq!(page["resources"][1]["title"], "A");
        assert_eq!(page["resources"][1].get("icons").is_some(), revision == NOVEMBER);
    }
}

#[tokio::test]
async fn pages_follow_each_other() {
    let tools = (0..5).map(|n| Tool::new(format!("t{n}")).handler(async || "t"));
    let endpoint = tools.fold(endpoint(), Endpoint::tool);
    let served = Served::start(McpServer::builder().endpoint(endpoint).list_page(2)).await;
    for revision in BOTH {
        let (mut names, mut params) = (Vec::new(), json!({}));
        loop {
            let page = ask(&served, revision, "tools/list", params).await;
            names.extend(page["tools"].as_array().unwrap().iter().map(|tool| tool["name"].to_string()));
            let Some(next) = page.get("nextCursor") else { break };
            params = json!({ "cursor": next });
        }
        assert_eq!(names.len(), 5, "{names:?}");
    }
}

#[tokio::test]
async fn lists_change_while_they_are_served() {
    let endpoint = endpoint().changes([ChangeKind::Tools]).tool(Tool::new("first").handler(async || "1"));
    let server =
        McpServer::builder().endpoint(endpoint).subscription_authorizer(allow_all()).build().unwrap();
    let client = |revision| mcp_runtime::testing::Client::new(&server).revision(revision);
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        assert_eq!(client(revision).list_tools().await.unwrap().len(), 1);
    }
    let second = Tool::new("second").handler(async || "2");
    server.catalogs().edit("/mcp", |catalog| catalog.add_tool(second)).unwrap();
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        assert_eq!(client(revision).list_tools().await.unwrap().len(), 2);
        assert_eq!(client(revision).call("second").await.unwrap().text(), "2");
    }
}

#[tokio::test]
async fn a_policy_hides_things_in_every_revision() {
    static ASKED: AtomicBool = AtomicBool::new(false);
    struct NoEcho;
    impl CatalogPolicy for NoEcho {
        async fn view(&self, request: &ViewRequest<'_>) -> Result<CatalogView, BoxError> {
            ASKED.fetch_or(request.revision() == Revision::V2025_06_18, Relaxed);
            Ok(CatalogView::only(|item| !matches!(item, CatalogItem::Tool("echo"))))
        }
    }
    let served = Served::start(everything().catalog_policy(NoEcho)).await;
    for revision in BOTH {
        let page = ask(&served, revision, "tools/list", json!({})).await;
        assert_eq!(page["tools"][0]["name"], "say");
        assert_eq!(page.as_object().map(|members| members.len()), Some(1));
        let hidden = served.send(&call(revision, "echo", json!({ "text": "" }))).await;
        assert_eq!(hidden.refusal(), (200, -32602));
    }
    assert!(ASKED.load(Relaxed), "it is told the revision");
    assert_eq!(served.send(&request(JUNE, "ping", json!({}))).await.result(), json!({}));
}
