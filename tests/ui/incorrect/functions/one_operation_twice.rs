use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[mcp_endpoint]
impl Catalog {
    #[mcp_tool]
    #[mcp_tool(read_only)]
    async fn search(&self, query: String) -> String {
        query
    }
}

fn main() {}
