use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

trait Search {
    fn search(query: String) -> String;
}

#[mcp_endpoint]
impl Search for Catalog {
    #[mcp_tool]
    fn search(query: String) -> String {
        query
    }
}

fn main() {}
