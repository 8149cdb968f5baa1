use mcp_runtime::prelude::*;

#[mcp_completion(prompt = "greet", argument = "name")]
async fn names(value: String) -> Option<String> {
    Some(value)
}

fn main() {}
