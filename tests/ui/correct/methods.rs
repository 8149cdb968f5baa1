use mcp_runtime::prelude::*;

/// Spare parts.
#[mcp_endpoint(path = "/catalog/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[mcp_endpoint]
impl Catalog {
    /// Searches.
    #[mcp_tool(read_only)]
    async fn search(&self, query: String) -> String {
        self.found(query).await
    }

    #[mcp_tool]
    fn count(&self) -> String {
        String::from("0")
    }

    #[mcp_tool]
    async fn without_receiver(query: String) -> String {
        query
    }

    #[mcp_tool]
    fn plain_without_receiver(query: String) -> String {
        query
    }

    async fn found(&self, query: String) -> String {
        query
    }
}

#[mcp_endpoint]
impl Catalog {
    #[mcp_resource(uri = "catalog://parts/{id}")]
    async fn part(&self, id: String) -> Text {
        Text::new(id)
    }

    #[mcp_prompt]
    async fn compare(&self, first: String, second: Option<String>) -> String {
        format!("{first}{second:?}")
    }
}

fn main() {}
