use mcp_runtime::prelude::*;

struct Failure;

#[mcp_tool]
async fn search() -> Result<String, Failure> {
    Err(Failure)
}

fn main() {}
