use mcp_runtime::prelude::*;

#[mcp_resource(uri = "parts/7")]
async fn relative() -> Text {
    Text::new("")
}

#[mcp_resource(uri = "catalog://spare parts")]
async fn bad_character() -> Text {
    Text::new("")
}

#[mcp_resource(uri = "catalog://100%")]
async fn bad_triplet() -> Text {
    Text::new("")
}

fn main() {}
