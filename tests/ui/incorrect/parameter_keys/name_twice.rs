use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(#[mcp(rename = "query")] text: String, query: String) -> String {
    text + &query
}

fn main() {}
