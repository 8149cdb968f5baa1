use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search<T: ToString>(query: T) -> String {
    query.to_string()
}

fn main() {}
