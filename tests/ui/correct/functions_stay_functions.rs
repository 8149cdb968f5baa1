use mcp_runtime::prelude::*;

/// Adds.
#[mcp_tool]
async fn add(
    /// One.
    a: i64,
    /// The other.
    b: i64,
) -> String {
    (a + b).to_string()
}

#[mcp_prompt]
fn greet(name: String) -> String {
    format!("Hello {name}")
}

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[mcp_endpoint]
impl Catalog {
    #[mcp_tool]
    async fn double(&self, #[mcp(default = 1)] a: i64) -> String {
        (2 * a).to_string()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    assert_eq!(add(1, 2).await, "3");
    assert_eq!(greet("you".to_owned()), "Hello you");
    assert_eq!(Catalog.double(4).await, "8");
}
