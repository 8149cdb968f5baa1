#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_prompt]
async fn greet(name: String, times: u32, loud: Option<bool>) -> String {
    name
}

fn main() {}
