use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search((from, to): (u32, u32)) -> String {
    format!("{from}{to}")
}

fn main() {}
