use mcp_runtime::prelude::*;

fn schema() -> String {
    String::new()
}

#[mcp_tool(input_schema = schema)]
async fn search(query: String) -> String {
    query
}

fn main() {}
