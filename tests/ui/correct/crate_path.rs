mod framework {
    pub mod mcp {
        pub use mcp_runtime::*;
    }
}

use framework::mcp::{mcp_endpoint, mcp_tool, prelude::CancellationToken};

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0", crate = crate::framework::mcp)]
struct Catalog;

#[mcp_endpoint(crate = framework::mcp)]
impl Catalog {
    #[mcp_tool]
    async fn search(&self, query: String, cancellation: CancellationToken) -> String {
        drop(cancellation);
        query
    }
}

#[mcp_tool(endpoint = Catalog, crate = crate::framework::mcp, icons("https://example.com/a.png"))]
fn find(#[mcp(default = 10, header = "Limit")] limit: u32) -> String {
    limit.to_string()
}

fn main() {}
