use mcp_runtime::prelude::*;

#[derive(serde::Deserialize)]
struct Filter {
    color: String,
}

#[mcp_tool]
async fn search(filter: Filter) -> String {
    filter.color
}

fn main() {}
