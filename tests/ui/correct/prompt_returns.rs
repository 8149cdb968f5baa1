use mcp_runtime::prelude::*;

#[mcp_prompt]
async fn text() -> String {
    String::new()
}

#[mcp_prompt]
async fn message() -> PromptMessage {
    PromptMessage::user("a")
}

#[mcp_prompt]
async fn messages(topic: Option<String>) -> Result<Vec<PromptMessage>, PromptError> {
    Ok(vec![PromptMessage::user("a"), PromptMessage::assistant(topic.unwrap_or_default())])
}

#[mcp_prompt]
async fn whole() -> PromptResult {
    PromptResult::new([PromptMessage::user("a")])
}

fn main() {}
