#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Label(String);

#[mcp_tool]
async fn search(#[mcp(default = "none")] label: Label, #[mcp(default = 1.5)] page: u32) -> String {
    label.0
}

fn main() {}
