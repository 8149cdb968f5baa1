use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search() -> impl ToString {
    String::new()
}

#[mcp_prompt]
async fn greet() -> Result<impl Into<String>, PromptError> {
    Ok(String::new())
}

fn main() {}
