use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(#[mcp(header = "Sales Region")] region: String) -> String {
    region
}

fn main() {}
