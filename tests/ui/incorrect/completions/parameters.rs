#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_completion(prompt = "greet", argument = "name")]
async fn names(value: String, limit: u32, #[mcp(header = "Tone")] tone: Option<String>) -> Vec<String> {
    vec![value]
}

fn main() {}
