use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(#[mcp(header = "Region")] from: String, #[mcp(header = "REGION")] to: String) -> String {
    from + &to
}

fn main() {}
