use mcp_runtime::prelude::*;

#[mcp_resource]
type Catalog = u32;

fn main() {}
