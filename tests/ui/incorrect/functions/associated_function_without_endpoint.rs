use mcp_runtime::prelude::*;

struct Catalog;

impl Catalog {
    #[mcp_tool]
    async fn search(query: String) -> String {
        query
    }
}

fn main() {}
