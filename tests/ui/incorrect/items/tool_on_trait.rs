use mcp_runtime::prelude::*;

#[mcp_tool]
trait Catalog {}

fn main() {}
