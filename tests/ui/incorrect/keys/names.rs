use mcp_runtime::prelude::*;

#[mcp_tool(name = "find parts")]
async fn search(query: String) -> String {
    query
}

#[mcp_tool]
async fn größe() -> String {
    String::new()
}

#[mcp_prompt(name = "☃")]
async fn greet(name: String) -> String {
    name
}

fn main() {}
