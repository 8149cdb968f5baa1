use mcp_runtime::prelude::*;

#[mcp_tool]
#[cfg(any())]
async fn search(query: Missing) -> Missing {
    query
}

#[mcp_tool]
#[cfg(all())]
async fn search(query: String) -> String {
    query
}

#[cfg(any())]
#[mcp_prompt]
async fn greet(name: Missing) -> String {
    name
}

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
#[cfg(all())]
struct Catalog;

#[mcp_endpoint(path = "/other", name = "other", version = "1.0.0")]
#[cfg(any())]
struct Catalog;

#[mcp_endpoint]
impl Catalog {
    #[cfg(all())]
    #[mcp_tool(name = "where")]
    async fn here() -> &'static str {
        "here"
    }

    #[cfg(any())]
    #[mcp_tool(name = "where")]
    async fn there(place: Missing) -> &'static str {
        "there"
    }
}

fn main() {}
