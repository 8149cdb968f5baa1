//! The smallest server: one function, and one line that serves it at <http://127.0.0.1:8081/mcp>.

use mcp_runtime::prelude::*;

/// Greets somebody.
#[mcp_tool(read_only)]
async fn greet(
    /// Whom to greet.
    name: String,
) -> String {
    format!("Hello, {name}!")
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    McpServer::from_annotations().serve("127.0.0.1:8081").await
}
