use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(#[mcp(rename = "q")] #[mcp(rename = "query")] query: String) -> String {
    query
}

fn main() {}
