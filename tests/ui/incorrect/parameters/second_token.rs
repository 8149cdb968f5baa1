#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(first: CancellationToken, query: String, second: CancellationToken) -> String {
    query
}

fn main() {}
