use mcp_runtime::prelude::*;

#[mcp_tool]
struct Catalog;

fn main() {}
