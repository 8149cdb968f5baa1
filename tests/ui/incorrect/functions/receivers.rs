use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[mcp_endpoint]
impl Catalog {
    #[mcp_tool]
    async fn by_value(self) -> String {
        String::new()
    }

    #[mcp_tool]
    async fn mutable(&mut self) -> String {
        String::new()
    }

    #[mcp_tool]
    async fn shared(self: std::sync::Arc<Self>) -> String {
        String::new()
    }
}

fn main() {}
