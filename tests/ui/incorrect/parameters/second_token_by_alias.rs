#![allow(unused_variables)]

use mcp_runtime::prelude::*;

type Token = CancellationToken;

#[mcp_prompt]
async fn greet(name: String, first: CancellationToken, second: Token) -> String {
    name
}

fn main() {}
