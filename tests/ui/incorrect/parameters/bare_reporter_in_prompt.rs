#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_prompt]
async fn greet(name: String, progress: ProgressReporter) -> String {
    name
}

fn main() {}
