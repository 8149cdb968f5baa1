use mcp_runtime::prelude::*;

#[mcp_tool(title = " ", name = "")]
async fn search(#[mcp(rename = "")] query: String) -> String {
    query
}

fn main() {}
