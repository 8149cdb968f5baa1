use mcp_runtime::prelude::*;

#[mcp_endpoint]
struct Catalog;

#[mcp_endpoint(path = "/mcp", name = "catalog", verison = "1.0.0")]
struct Stock;

#[mcp_tool(endpoint = Catalog)]
async fn search(query: String) -> String {
    query
}

fn main() {}
