//! A program whose functions name no endpoint: they are served by the default endpoint of their crate.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Local, Message};
use serde_json::{Value, json};

#[mcp_tool]
async fn zebra() -> &'static str {
    "z"
}

#[mcp_prompt]
async fn greet() -> &'static str {
    "Hello"
}

/// Two on one line have an order as well.
#[rustfmt::skip]
mod one_line {
    use mcp_runtime::prelude::*;

    #[mcp_tool] async fn yak() {} #[mcp_tool] async fn xerus() {}
}

#[mcp_tool]
async fn ant() {}

#[mcp_resource(uri = "x://resource")]
async fn resource() -> &'static str {
    "text"
}

async fn names(local: &Local, method: &str, member: &str) -> Vec<Value> {
    let list = local.send(&Message::request(method)).await.result();
    list[member].as_array().expect("a list").iter().map(|item| item["name"].clone()).collect()
}

#[tokio::test]
async fn functions_without_an_endpoint_are_served_under_the_name_of_their_crate() {
    let local = Local::new(McpServer::from_annotations());
    let discovered = local.send(&Message::request("server/discover")).await.result();
    let info = json!({ "name": "mcp-tests", "version": env!("CARGO_PKG_VERSION") });
    assert_eq!(discovered["_meta"]["io.modelcontextprotocol/serverInfo"], info);
    assert_eq!(discovered["capabilities"], json!({ "tools": {}, "prompts": {}, "resources": {} }));
    assert_eq!(local.send(&Message::call("zebra", json!({}))).await.text(), "z");
}

#[tokio::test]
async fn items_are_listed_in_the_order_of_their_sources() {
    let local = Local::new(McpServer::from_annotations());
    assert_eq!(names(&local, "tools/list", "tools").await, ["zebra", "yak", "xerus", "ant"]);
    assert_eq!(names(&local, "prompts/list", "prompts").await, ["greet"]);
    assert_eq!(names(&local, "resources/list", "resources").await, ["resource"]);
}

#[tokio::test]
async fn a_crate_can_be_named_as_cargo_or_as_rust_names_it() {
    for name in ["mcp-tests", "mcp_tests"] {
        let local = Local::new(McpServer::from_annotations().only_crates([name]));
        assert_eq!(names(&local, "tools/list", "tools").await.len(), 4);
    }
}

#[test]
fn a_server_that_names_its_endpoints_leaves_the_default_one_out() {
    let error = mcp_tests::build_error(McpServer::builder());
    assert!(error.to_string().contains("nothing to serve"), "{error}");
}

#[tokio::test]
async fn hand_made_endpoints_stand_beside_the_annotated_ones() {
    let by_hand = Endpoint::builder("/other").tool(Tool::new("other").handler(async || "by hand"));
    let local = Local::new(McpServer::from_annotations().endpoint(by_hand));
    assert_eq!(local.send(&Message::call("other", json!({})).path("/other")).await.text(), "by hand");
    assert_eq!(local.send(&Message::call("zebra", json!({}))).await.text(), "z");
    let taken = Endpoint::builder("/mcp").tool(Tool::new("other").handler(async || "by hand"));
    let error = mcp_tests::build_error(McpServer::from_annotations().endpoint(taken));
    assert!(error.to_string().contains("the path `/mcp` belongs to"), "{error}");
}
