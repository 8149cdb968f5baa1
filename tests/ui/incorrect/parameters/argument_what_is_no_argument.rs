#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(#[mcp(argument)] cancellation: CancellationToken) -> String {
    String::new()
}

fn main() {}
