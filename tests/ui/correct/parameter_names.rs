use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(
    #[mcp(rename = "search-text")] mut query: String,
    r#type: String,
    #[mcp(rename = "range")] (from, to): (u32, u32),
    #[mcp(rename = "query")] text: Option<String>,
    #[mcp(title = "How many", rename = "limit")] _limit: Option<u8>,
) -> String {
    query.push_str(&r#type);
    format!("{query}{from}{to}{text:?}")
}

#[mcp_prompt]
async fn greet(#[mcp(rename = "full name", title = "Name")] name: String, r#in: Option<String>) -> String {
    format!("{name}{:?}", r#in)
}

fn main() {}
