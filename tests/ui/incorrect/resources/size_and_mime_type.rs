use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://parts/{id}", size = 1024, mime_type = "json")]
async fn part(id: String) -> Text {
    Text::new(id)
}

#[mcp_resource(uri = "catalog://parts", size = -1)]
async fn parts() -> Text {
    Text::new("")
}

fn main() {}
