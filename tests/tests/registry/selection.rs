//! Which endpoints a server takes of all that are in a program.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Local, Message, endpoint};
use serde_json::json;

use super::{assert_fault, assert_one, faults, faults_of};

#[mcp_endpoint(path = "/one", name = "one", version = "1.0.0")]
struct One;

#[mcp_endpoint(path = "/two", name = "two", version = "1.0.0")]
struct Two;

/// The same name in both.
#[mcp_tool(endpoint = One, name = "who")]
async fn one() -> &'static str {
    "one"
}

#[mcp_tool(endpoint = Two, name = "who")]
async fn two() -> &'static str {
    "two"
}

#[mcp_endpoint(path = "/bare", name = "bare", version = "1.0.0")]
struct Bare;

#[tokio::test]
async fn only_what_is_named_is_taken_whatever_else_is_wrong_in_the_program() {
    let who = Message::call("who", json!({}));
    let local = Local::new(McpServer::builder().endpoint(One));
    assert_eq!(local.send(&who.clone().path("/one")).await.text(), "one");
    assert_eq!(local.send(&who.clone().path("/two")).await.status, 404);
    let local = Local::new(McpServer::builder().select::<One>().select::<Two>().select::<One>());
    assert_eq!(local.send(&who.clone().path("/one")).await.text(), "one");
    assert_eq!(local.send(&who.path("/two")).await.text(), "two");
}

#[tokio::test]
async fn annotated_and_hand_made_endpoints_are_served_together() {
    let by_hand = endpoint().tool(Tool::new("who").handler(async || "hand-made"));
    let local = Local::new(McpServer::builder().endpoint(by_hand).endpoint(One));
    for (path, text) in [("/mcp", "hand-made"), ("/one", "one")] {
        assert_eq!(local.send(&Message::call("who", json!({})).path(path)).await.text(), text);
    }
}

#[tokio::test]
async fn an_annotated_endpoint_can_be_extended_by_hand() {
    let more = Endpoint::extending::<One>().tool(Tool::new("more").handler(async || "by hand"));
    for builder in [McpServer::builder(), McpServer::builder().endpoint(One)] {
        let local = Local::new(builder.endpoint(more.clone()));
        let tools = local.send(&Message::request("tools/list").path("/one")).await.result();
        let names: Vec<_> = tools["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["who", "more"], "its own come first");
        assert_eq!(local.send(&Message::call("more", json!({})).path("/one")).await.text(), "by hand");
    }
    let doubled = Endpoint::extending::<One>().tool(Tool::new("who").handler(async || "by hand"));
    let faults = faults(McpServer::builder().endpoint(One).endpoint(doubled));
    assert_one(&faults, "who", &["the tool name `who` belongs to `one` ("]);
}

#[test]
fn a_server_of_nothing_is_refused_with_the_likely_reason() {
    let faults = faults(McpServer::builder());
    assert_eq!(faults.len(), 1);
    for part in ["nothing to serve", "use my_parts as _;"] {
        assert!(faults[0].message.contains(part), "{part}: {}", faults[0]);
    }
}

#[test]
fn an_endpoint_of_nothing_is_refused_with_its_place() {
    assert_one(
        &faults(McpServer::builder().endpoint(Bare)),
        "Bare",
        &["serves nothing", "use that_crate as _;"],
    );
    assert_one(&faults_of(endpoint()), "/mcp", &["serves nothing"]);
}

#[test]
fn all_of_the_program_is_taken_with_all_its_faults() {
    let faults = faults(McpServer::from_annotations());
    for (item, says) in
        [("Bare", "serves nothing"), ("second", "tool name `same`"), ("name", "no instance of `Shop`")]
    {
        let fault = faults.iter().find(|fault| fault.message.contains(says));
        assert_fault(fault.unwrap_or_else(|| panic!("{says}: {faults:#?}")), item, &[]);
    }
}

#[test]
fn a_crate_that_is_not_linked_is_named_with_what_is() {
    let faults = faults(McpServer::from_annotations().only_crates(["spare-parts"]));
    assert_eq!(faults.len(), 1, "{faults:#?}");
    for part in ["`spare-parts`", "mcp-tests", "use spare_parts as _;"] {
        assert!(faults[0].message.contains(part), "{part}: {}", faults[0]);
    }
}
