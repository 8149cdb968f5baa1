//! A program that declares an endpoint, and has a function that names none.

use mcp_runtime::{McpServer, prelude::*};

#[mcp_endpoint(path = "/declared", name = "declared", version = "1.0.0")]
struct Declared;

#[mcp_tool(endpoint = Declared)]
async fn named() {}

#[mcp_tool]
async fn forgotten() {}

#[test]
fn a_function_that_names_no_endpoint_is_told_which_there_is() {
    let error = mcp_tests::build_error(McpServer::from_annotations());
    let [fault] = error.faults() else { panic!("{error}") };
    let place = fault.place.as_deref().unwrap_or_default();
    assert!(place.starts_with("`forgotten` (") && place.contains("mixed_annotations.rs:"), "{fault}");
    for part in ["names no endpoint", "`Declared` (", "write `endpoint = Declared`"] {
        assert!(fault.message.contains(part), "{part}: {fault}");
    }
}

#[test]
fn a_server_that_names_the_declared_endpoint_is_not_bothered() {
    assert!(McpServer::builder().endpoint(Declared).build().is_ok());
}
