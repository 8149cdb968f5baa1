#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(query: String, progress: ProgressReporter) -> String {
    query
}

fn main() {}
