#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(#[mcp(inject, header = "Region")] context: RequestContext) -> String {
    String::new()
}

fn main() {}
