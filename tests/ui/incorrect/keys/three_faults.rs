#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool(timeout = "5 minutes", titel = "Search")]
async fn search(query: &str, progress: ProgressReporter) -> String {
    query.to_owned()
}

fn main() {}
