use mcp_runtime::prelude::*;

#[mcp_prompt]
async fn compare(first: String, second: String) -> String {
    first + &second
}

#[mcp_resource(uri = "catalog://{shelf}/{id}")]
async fn part(shelf: String, id: String) -> Text {
    Text::new(shelf + &id)
}

#[mcp_completion(prompt = "compare", argument = "first")]
async fn first(value: String) -> Vec<String> {
    vec![value]
}

#[mcp_completion(prompt = "compare", argument = "second", timeout = "500ms")]
async fn second(value: String, first: Option<String>, State(stock): State<u32>) -> Result<Completion, CompletionError> {
    let _ = (first, stock);
    Ok(vec![value].into())
}

#[mcp_completion(resource = "catalog://{shelf}/{id}", argument = "id")]
fn ids(value: String, #[mcp(rename = "shelf")] on: Option<String>) -> Vec<&'static str> {
    let _ = (value, on);
    vec!["1"]
}

#[mcp_completion(resource = "catalog://{shelf}/{id}", argument = "shelf")]
fn shelves() -> Vec<&'static str> {
    vec!["a", "b"]
}

fn main() {}
