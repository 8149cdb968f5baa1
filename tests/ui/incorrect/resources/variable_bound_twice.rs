use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://parts/{id}")]
async fn part(id: String, #[mcp(rename = "id")] number: String) -> Text {
    Text::new(id + &number)
}

fn main() {}
