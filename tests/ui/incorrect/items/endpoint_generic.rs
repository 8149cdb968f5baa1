use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog<T>(T);

#[mcp_endpoint]
impl<T> Catalog<T> {}

#[mcp_endpoint]
impl Catalog<String> {}

fn main() {}
