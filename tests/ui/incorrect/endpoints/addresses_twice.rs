use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[mcp_endpoint]
impl Catalog {
    #[mcp_resource(uri = "catalog://parts/{id}")]
    async fn part(id: String) -> Text {
        Text::new(id)
    }

    #[mcp_resource(uri = "catalog://parts/{number}")]
    async fn numbered(number: String) -> Text {
        Text::new(number)
    }

    #[mcp_resource_list]
    async fn parts() -> ResourcePage {
        ResourcePage::default()
    }

    #[mcp_resource_list]
    async fn more_parts() -> ResourcePage {
        ResourcePage::default()
    }

    #[mcp_completion(resource = "catalog://parts/{id}", argument = "id")]
    async fn ids(value: String) -> Vec<String> {
        vec![value]
    }

    #[mcp_completion(resource = "catalog://parts/{id}", argument = "id")]
    async fn more_ids(value: String) -> Vec<String> {
        vec![value]
    }
}

fn main() {}
