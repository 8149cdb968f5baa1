use mcp_runtime::prelude::*;

struct Catalog;

impl Catalog {
    #[mcp_tool]
    async fn search(&self, query: String) -> String {
        query
    }
}

fn main() {}
