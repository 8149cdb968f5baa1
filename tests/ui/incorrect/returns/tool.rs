use mcp_runtime::prelude::*;

struct Part;

#[mcp_tool]
async fn search(query: String) -> Result<Part, ToolError> {
    Err(ToolError::new(query))
}

fn main() {}
