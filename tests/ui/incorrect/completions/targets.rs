use mcp_runtime::prelude::*;

#[mcp_completion(argument = "name")]
async fn one(value: String) -> Vec<String> {
    vec![value]
}

#[mcp_completion(prompt = "greet", resource = "catalog://parts/{id}", argument = "name")]
async fn two(value: String) -> Vec<String> {
    vec![value]
}

#[mcp_completion(prompt = "greet")]
async fn three(value: String) -> Vec<String> {
    vec![value]
}

#[mcp_completion(prompt = "", argument = "name")]
async fn four(value: String) -> Vec<String> {
    vec![value]
}

fn main() {}
