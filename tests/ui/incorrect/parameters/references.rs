#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(text: &str, names: &[String], limit: &u32, color: Option<&str>) -> String {
    text.to_owned()
}

fn main() {}
