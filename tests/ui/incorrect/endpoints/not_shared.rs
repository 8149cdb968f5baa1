use mcp_runtime::prelude::*;

use std::cell::Cell;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog {
    calls: Cell<u32>,
}

fn main() {}
