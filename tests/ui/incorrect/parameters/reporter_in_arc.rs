#![allow(unused_variables)]

use std::sync::Arc;

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(progress: Arc<ProgressReporter>) -> String {
    String::new()
}

fn main() {}
