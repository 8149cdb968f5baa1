use mcp_runtime::prelude::*;

#[mcp_tool(requires(smapling, images, roots, roots), extra_arguments = "allow")]
async fn search(query: String) -> String {
    query
}

#[mcp_resource(uri = "catalog://parts", scope = "shared")]
async fn parts() -> Text {
    Text::new("")
}

fn main() {}
