use mcp_runtime::prelude::*;

#[mcp_tool]
unsafe fn search(query: String) -> String {
    query
}

#[mcp_tool]
extern "C" fn find(query: String) -> String {
    query
}

#[mcp_tool]
const fn limit() -> &'static str {
    "10"
}

fn main() {}
