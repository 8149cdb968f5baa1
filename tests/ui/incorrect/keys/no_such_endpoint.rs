use mcp_runtime::prelude::*;

struct Catalog;

#[mcp_tool(endpoint = Catalog)]
async fn search(query: String) -> String {
    query
}

#[mcp_tool(endpoint = Missing)]
async fn find(query: String) -> String {
    query
}

fn main() {}
