#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_resource_list]
async fn parts(progress: ProgressReporter) -> ResourcePage {
    ResourcePage::default()
}

fn main() {}
