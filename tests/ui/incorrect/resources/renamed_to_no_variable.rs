use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://parts/{number}")]
async fn part(#[mcp(rename = "nubmer")] id: String) -> Text {
    Text::new(id)
}

#[mcp_resource(uri = "catalog://parts")]
async fn parts(#[mcp(rename = "number")] id: String) -> Text {
    Text::new(id)
}

fn main() {}
