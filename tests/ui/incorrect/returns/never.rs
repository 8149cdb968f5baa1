use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(query: String) -> ! {
    panic!("{query}")
}

fn main() {}
