use mcp_runtime::prelude::*;

#[mcp_prompt]
mod catalog {}

fn main() {}
