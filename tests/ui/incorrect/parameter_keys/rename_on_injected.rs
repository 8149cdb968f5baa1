#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(#[mcp(rename = "token")] cancellation: CancellationToken) -> String {
    String::new()
}

fn main() {}
