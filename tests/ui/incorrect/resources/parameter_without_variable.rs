use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://parts/{id}")]
async fn part(id: String, shelf: String) -> Text {
    Text::new(id + &shelf)
}

#[mcp_resource(uri = "catalog://parts")]
async fn parts(id: String) -> Text {
    Text::new(id)
}

fn main() {}
