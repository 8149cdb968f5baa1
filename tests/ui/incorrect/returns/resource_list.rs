#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_resource_list]
async fn parts(cursor: Option<String>) -> Vec<String> {
    Vec::new()
}

fn main() {}
