use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://{shelf}/{id}")]
async fn part(id: String) -> Text {
    Text::new(id)
}

fn main() {}
