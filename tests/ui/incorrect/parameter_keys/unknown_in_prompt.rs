use mcp_runtime::prelude::*;

#[mcp_prompt]
async fn greet(#[mcp(default = "you")] name: String) -> String {
    name
}

fn main() {}
