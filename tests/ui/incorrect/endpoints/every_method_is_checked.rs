#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[mcp_endpoint]
impl Catalog {
    #[mcp_tool(timeout = "soon")]
    async fn search(&self, query: String, progress: ProgressReporter) -> String {
        query
    }

    #[mcp_tool]
    async fn find(&self, #[mcp(default = 10)] cancellation: CancellationToken) -> Self {
        Self
    }

    #[mcp_prompt]
    async fn greet<T>(&self, name: String) -> String {
        name
    }
}

fn main() {}
