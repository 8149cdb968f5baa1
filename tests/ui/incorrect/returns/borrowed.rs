use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog {
    name: String,
}

#[mcp_endpoint]
impl Catalog {
    #[mcp_tool]
    async fn name(&self) -> &str {
        &self.name
    }

    #[mcp_tool]
    async fn title(&self) -> std::borrow::Cow<'_, str> {
        self.name.as_str().into()
    }
}

fn main() {}
