#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(query: String) {}

#[mcp_prompt]
async fn greet(name: String) {}

fn main() {}
