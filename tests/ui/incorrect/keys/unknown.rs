#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool(tittle = "Search", readonly)]
async fn search(query: String) -> String {
    query
}

#[mcp_prompt(uri = "catalog://parts")]
async fn greet(name: String) -> String {
    name
}

fn main() {}
