use mcp_runtime::prelude::*;

#[mcp_prompt]
const CATALOG: u32 = 1;

fn main() {}
