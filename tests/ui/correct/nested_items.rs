use mcp_runtime::prelude::*;

mod catalog {
    use super::*;

    /// Spare parts.
    #[mcp_endpoint(path = "/catalog/mcp", name = "catalog", version = "1.0.0")]
    pub(super) struct Catalog;

    pub(crate) mod tools {
        use super::*;

        #[derive(serde::Deserialize, schemars::JsonSchema)]
        struct Private(u32);

        #[mcp_tool(endpoint = super::Catalog)]
        async fn search(filter: Private) -> String {
            filter.0.to_string()
        }
    }
}

#[mcp_tool(endpoint = catalog::Catalog)]
async fn search_elsewhere(query: String) -> String {
    query
}

#[mcp_endpoint]
impl catalog::Catalog {
    #[mcp_prompt]
    async fn greet(name: String) -> String {
        name
    }
}

fn main() {
    #[mcp_tool(endpoint = Local)]
    async fn in_a_function(query: String) -> String {
        query
    }

    #[mcp_endpoint(path = "/local/mcp", name = "local", version = "1.0.0")]
    struct Local;

    #[mcp_endpoint]
    impl Local {
        #[mcp_tool]
        async fn method(&self) -> String {
            String::new()
        }
    }
}
