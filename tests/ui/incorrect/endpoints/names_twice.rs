use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[mcp_endpoint]
impl Catalog {
    #[mcp_tool]
    async fn search(query: String) -> String {
        query
    }

    #[mcp_tool(name = "search")]
    async fn find(query: String) -> String {
        query
    }

    #[mcp_prompt]
    async fn greet(name: String) -> String {
        name
    }

    #[mcp_prompt(name = "greet")]
    async fn welcome(name: String) -> String {
        name
    }

    #[mcp_prompt(name = "search")]
    async fn prompts_and_tools_have_names_of_their_own(name: String) -> String {
        name
    }
}

fn main() {}
