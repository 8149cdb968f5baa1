#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(first: Logger, query: String, second: Logger) -> String {
    query
}

fn main() {}
