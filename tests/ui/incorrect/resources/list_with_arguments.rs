#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_resource_list]
async fn parts(page: Option<String>, limit: u32) -> ResourcePage {
    ResourcePage::default()
}

fn main() {}
