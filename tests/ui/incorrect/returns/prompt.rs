#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_prompt]
async fn greet(name: String) -> u32 {
    7
}

fn main() {}
