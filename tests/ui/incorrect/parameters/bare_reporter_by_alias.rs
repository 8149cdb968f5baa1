#![allow(unused_variables)]

use mcp_runtime::prelude::*;

type Reporter = ProgressReporter;

#[mcp_tool]
async fn search(progress: Reporter) -> String {
    String::new()
}

fn main() {}
