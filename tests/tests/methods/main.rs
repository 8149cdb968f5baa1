//! The methods: what is asked for is what comes back.

mod completions;
mod context;
mod discovery;
mod lists;
mod logging;
mod prompts;
mod resources;
mod tools;

use mcp_runtime::{McpServer, prelude::Endpoint};
use mcp_tests::{Local, Message};
use serde_json::Value;

/// A server of one endpoint.
fn serving(endpoint: Endpoint) -> Local {
    Local::new(McpServer::builder().endpoint(endpoint))
}

/// The result of a request.
async fn result(local: &Local, message: Message) -> Value {
    let reply = local.send(&message).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.result()
}

/// A result without what all results have.
fn plain(mut result: Value) -> Value {
    let members = result.as_object_mut().expect("a result is an object");
    assert_eq!(members.remove("resultType"), Some("complete".into()));
    assert!(
        members.remove("_meta").is_some_and(|meta| meta["io.modelcontextprotocol/serverInfo"].is_object())
    );
    result
}
