use mcp_runtime::prelude::*;

#[derive(serde::Serialize)]
struct Part {
    id: u32,
}

#[mcp_tool]
async fn search() -> Json<Part> {
    Json(Part { id: 1 })
}

fn main() {}
