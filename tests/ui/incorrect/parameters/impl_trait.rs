use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(query: impl ToString) -> String {
    query.to_string()
}

fn main() {}
