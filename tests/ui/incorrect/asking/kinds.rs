use mcp_runtime::prelude::*;

#[mcp_resource_list]
async fn parts(ask: Ask) -> Vec<ResourceEntry> {
    drop(ask);
    Vec::new()
}

#[mcp_completion(prompt = "greet", argument = "name", asks(elicitation))]
async fn name(value: String, ask: Ask) -> Vec<String> {
    drop(ask);
    vec![value]
}

fn main() {}
