use mcp_runtime::prelude::*;

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Part {
    id: u32,
}

#[mcp_tool]
async fn text() -> String {
    String::new()
}

#[mcp_tool]
async fn literal() -> &'static str {
    "a"
}

#[mcp_tool]
async fn cow() -> std::borrow::Cow<'static, str> {
    "a".into()
}

#[mcp_tool]
async fn structured() -> Json<Part> {
    Json(Part { id: 1 })
}

#[mcp_tool]
async fn any_json() -> Json<Vec<u32>> {
    Json(vec![1])
}

#[mcp_tool]
async fn block() -> Content {
    Content::text("a")
}

#[mcp_tool]
async fn blocks() -> Vec<Content> {
    vec![Content::text("a")]
}

#[mcp_tool]
async fn whole() -> ToolResult {
    ToolResult::text("a")
}

#[mcp_tool]
async fn fallible() -> Result<Json<Part>, ToolError> {
    Err(ToolError::new("no"))
}

#[mcp_tool]
async fn other_errors() -> Result<String, std::num::ParseIntError> {
    "1".parse::<u32>().map(|number| number.to_string())
}

#[mcp_tool]
async fn nothing() {}

fn main() {}
