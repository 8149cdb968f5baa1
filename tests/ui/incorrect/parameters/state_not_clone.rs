#![allow(unused_variables)]

use mcp_runtime::prelude::*;

struct Stock;

#[mcp_tool]
async fn search(State(stock): State<Stock>) -> String {
    String::new()
}

fn main() {}
