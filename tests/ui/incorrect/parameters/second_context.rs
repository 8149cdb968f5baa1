#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(first: RequestContext, query: String, second: RequestContext) -> String {
    query
}

fn main() {}
