use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[mcp_endpoint]
impl Catalog {
    async fn search(#[mcp(default = 10)] limit: u32) -> u32 {
        limit
    }
}

fn main() {}
