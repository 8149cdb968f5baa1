#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(query: String, #[cfg(unix)] limit: u32) -> String {
    query
}

fn main() {}
