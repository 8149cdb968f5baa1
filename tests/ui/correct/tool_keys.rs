use mcp_runtime::prelude::*;

use serde::Serialize;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[derive(Serialize, schemars::JsonSchema)]
struct Found(u32);

fn schema() -> serde_json::Value {
    serde_json::json!({ "type": "object", "properties": { "query": { "type": "string" } } })
}

#[mcp_tool(
    endpoint = Catalog,
    name = "catalog.find-parts_v2",
    title = "Find parts",
    description = "Finds parts.",
    icons("https://example.com/icon.png"),
    read_only,
    destructive = false,
    idempotent = true,
    open_world = false,
    timeout = "5m",
    requires(sampling, elicitation, roots),
    input_schema = schema,
    extra_arguments = "refuse",
)]
async fn find(query: String) -> Json<Found> {
    Json(Found(query.len() as u32))
}

#[mcp_tool()]
async fn no_keys() -> String {
    String::new()
}

fn main() {}
