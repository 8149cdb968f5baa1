use mcp_runtime::prelude::*;

struct Catalog;

#[mcp_endpoint]
impl Catalog {
    #[mcp_tool]
    async fn search(query: String) -> String {
        query
    }
}

struct Empty;

#[mcp_endpoint]
impl Empty {}

fn main() {}
