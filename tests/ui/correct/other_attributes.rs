use mcp_runtime::prelude::*;

/// Searches.
#[mcp_tool]
#[must_use]
#[inline]
#[allow(clippy::unused_async)]
#[deprecated = "use `find`"]
async fn search(#[allow(unused_variables)] query: String) -> String {
    String::new()
}

#[allow(dead_code)]
#[mcp_tool(description = "Finds.")]
/// Not the description.
pub(crate) async fn find(
    /// What to find.
    #[mcp(default)]
    #[expect(unused_variables)]
    /// Exactly.
    query: String,
) -> String {
    String::new()
}

fn main() {}
