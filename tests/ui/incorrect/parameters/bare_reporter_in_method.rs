#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[mcp_endpoint]
impl Catalog {
    #[mcp_tool]
    async fn search(&self, progress: ProgressReporter) -> String {
        String::new()
    }
}

fn main() {}
