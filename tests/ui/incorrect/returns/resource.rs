use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://parts")]
async fn parts() -> Vec<u32> {
    Vec::new()
}

fn main() {}
