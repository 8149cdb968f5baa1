use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://parts/{id}")]
async fn part(#[mcp(default = "7", header = "Id")] id: String) -> Text {
    Text::new(id)
}

fn main() {}
