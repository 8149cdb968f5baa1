#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(progress: Result<ProgressReporter, String>) -> String {
    String::new()
}

fn main() {}
