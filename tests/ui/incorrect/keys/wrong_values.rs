use mcp_runtime::prelude::*;

const TITLE: &str = "Search";

#[mcp_tool(title = TITLE, description, read_only = "yes", endpoint = "Catalog", input_schema = 7, requires = sampling)]
async fn search(query: String) -> String {
    query
}

fn main() {}
