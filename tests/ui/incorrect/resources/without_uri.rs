use mcp_runtime::prelude::*;

#[mcp_resource]
async fn part(id: String) -> Text {
    Text::new(id)
}

fn main() {}
