use mcp_runtime::prelude::*;

#[mcp_tool(timeout = "5min")]
async fn one() -> String {
    String::new()
}

#[mcp_tool(timeout = "0s")]
async fn two() -> String {
    String::new()
}

#[mcp_tool(timeout = 30)]
async fn three() -> String {
    String::new()
}

#[mcp_resource(uri = "catalog://parts", ttl = "99999999999999999999h")]
async fn four() -> Text {
    Text::new("")
}

fn main() {}
