use mcp_runtime::prelude::*;

#[mcp_tool]
#[mcp_prompt]
async fn greet(name: String) -> String {
    name
}

fn main() {}
