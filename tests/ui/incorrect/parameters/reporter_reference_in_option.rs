#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(progress: Option<&ProgressReporter>) -> String {
    String::new()
}

fn main() {}
