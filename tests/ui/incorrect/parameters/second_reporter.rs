#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(first: Option<ProgressReporter>, query: String, second: Option<ProgressReporter>) -> String {
    query
}

fn main() {}
