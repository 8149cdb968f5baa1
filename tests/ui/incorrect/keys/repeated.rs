use mcp_runtime::prelude::*;

#[mcp_tool(title = "Search", read_only, title = "Find")]
async fn search(query: String) -> String {
    query
}

fn main() {}
