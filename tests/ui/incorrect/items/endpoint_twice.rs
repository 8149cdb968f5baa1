use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
#[mcp_endpoint(path = "/other", name = "catalog", version = "1.0.0")]
struct Catalog;

fn main() {}
