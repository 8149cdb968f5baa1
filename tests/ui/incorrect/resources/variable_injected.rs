#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://parts/{token}")]
async fn part(token: CancellationToken) -> Text {
    Text::new("")
}

fn main() {}
