use mcp_runtime::prelude::*;

#[mcp_resource]
static CATALOG: u32 = 1;

fn main() {}
