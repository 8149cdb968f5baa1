use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
async fn catalog() {}

fn main() {}
