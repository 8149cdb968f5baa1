#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(#[mcp(default = "ten")] limit: u32, #[mcp(default = 1.5)] page: u32) -> String {
    String::new()
}

fn main() {}
