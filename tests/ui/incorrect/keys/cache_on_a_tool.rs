use mcp_runtime::prelude::*;

#[mcp_tool(ttl = "5s", scope = "public")]
async fn search(query: String) -> String {
    query
}

fn main() {}
