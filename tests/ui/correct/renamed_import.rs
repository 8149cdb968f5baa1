use mcp_runtime::prelude::{
    CancellationToken as Token, ProgressReporter as Reporter, State as Shared, mcp_prompt, mcp_tool as tool,
};

#[tool]
async fn search(query: String, reporter: Option<Reporter>, token: Token, Shared(limit): Shared<u32>) -> String {
    drop((reporter, token));
    format!("{query}{limit}")
}

#[mcp_runtime::mcp_tool]
async fn find(query: String) -> String {
    query
}

#[mcp_prompt]
async fn greet(name: String, token: Token) -> String {
    drop(token);
    name
}

fn main() {}
