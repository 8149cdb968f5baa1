use mcp_runtime::prelude::*;

#[mcp_tool(icons("icon.png", icon(src = "https://example.com/a.png", sizes("big"), theme = "drak"), icon(mime_type = "png")))]
async fn search(query: String) -> String {
    query
}

#[mcp_prompt(icons = "https://example.com/a.png")]
async fn greet(name: String) -> String {
    name
}

fn main() {}
