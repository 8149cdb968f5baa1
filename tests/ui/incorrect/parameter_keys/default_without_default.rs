use mcp_runtime::prelude::*;

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Filter {
    color: String,
}

#[mcp_tool]
async fn search(#[mcp(default)] filter: Filter) -> String {
    filter.color
}

fn main() {}
