use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(
    #[mcp(header = "Region")] region: String,
    #[mcp(header = "X-Limit")] limit: u32,
    #[mcp(header = "exact")] exact: bool,
    #[mcp(header = "Tenant", default)] tenant: Option<String>,
    #[mcp(header = "Page")] page: Option<i64>,
) -> String {
    format!("{region}{limit}{exact}{tenant:?}{page:?}")
}

fn main() {}
