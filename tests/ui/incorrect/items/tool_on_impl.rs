use mcp_runtime::prelude::*;

struct Catalog;

#[mcp_tool]
impl Catalog {}

fn main() {}
