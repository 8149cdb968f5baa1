use mcp_runtime::prelude::*;

#[mcp_tool]
enum Catalog {}

fn main() {}
