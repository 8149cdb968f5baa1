use mcp_runtime::prelude::*;

#[mcp_completion(resource = "catalog://parts", argument = "id")]
async fn one(value: String) -> Vec<String> {
    vec![value]
}

#[mcp_completion(resource = "catalog://parts/{number}", argument = "nubmer")]
async fn two(value: String) -> Vec<String> {
    vec![value]
}

#[mcp_completion(resource = "catalog://parts/{?id}", argument = "id")]
async fn three(value: String) -> Vec<String> {
    vec![value]
}

fn main() {}
