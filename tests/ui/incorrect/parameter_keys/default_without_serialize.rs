use mcp_runtime::prelude::*;

#[derive(Default, serde::Deserialize, schemars::JsonSchema)]
struct Filter {
    color: String,
}

#[mcp_tool]
async fn search(#[mcp(default)] filter: Filter) -> String {
    filter.color
}

fn main() {}
