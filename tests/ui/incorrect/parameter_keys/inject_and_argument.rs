use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(#[mcp(inject, argument)] query: String) -> String {
    query
}

fn main() {}
