use mcp_runtime::prelude::*;

#[mcp_tool(title = , "Search", name "search", icons[])]
async fn search(query: String) -> String {
    query
}

fn main() {}
