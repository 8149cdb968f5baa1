#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://parts/{ids}")]
async fn part(ids: Vec<u32>) -> Text {
    Text::new("")
}

fn main() {}
