use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/one", name = "one", version = "1.0.0")]
struct One;

#[mcp_endpoint(path = "/two", name = "two", version = "1.0.0")]
struct Two;

#[mcp_resource_list(endpoint = One, ttl = "30s", scope = "private")]
async fn parts(cursor: Option<String>, State(stock): State<u32>) -> Result<ResourcePage, ResourceError> {
    let _ = (cursor, stock);
    Ok(ResourcePage::new([ResourceEntry::new("catalog://parts/1", "1")]).next_cursor("2"))
}

#[mcp_endpoint]
impl Two {
    #[mcp_resource_list]
    fn all(&self) -> Vec<ResourceEntry> {
        Vec::new()
    }
}

fn main() {}
