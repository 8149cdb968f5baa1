use mcp_runtime::prelude::*;

trait Catalog {
    #[mcp_tool]
    async fn search(
        &self,
        /// What to look for.
        query: String,
    ) -> String;
}

fn main() {}
