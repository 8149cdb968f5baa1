#![allow(unused_variables)]

use mcp_runtime::prelude::*;

use mcp_runtime::prelude::ProgressReporter as Reporter;

#[mcp_tool]
async fn search(progress: Reporter) -> String {
    String::new()
}

fn main() {}
