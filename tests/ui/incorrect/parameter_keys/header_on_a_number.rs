#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(#[mcp(header = "Radius")] radius: f64) -> String {
    String::new()
}

fn main() {}
