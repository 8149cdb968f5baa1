use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[mcp_endpoint(path = "/mcp")]
impl Catalog {
    #[mcp_tool(endpoint = Catalog, crate = mcp_runtime)]
    async fn search(query: String) -> String {
        query
    }
}

fn main() {}
