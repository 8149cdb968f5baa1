use mcp_runtime::prelude::*;

#[mcp_completion]
unsafe extern "C" {}

fn main() {}
