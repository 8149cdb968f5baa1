#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(#[mcp(defualt = 10)] limit: u32, #[mcp(alias = "q")] query: String) -> String {
    query
}

fn main() {}
