use mcp_runtime::prelude::*;

#[mcp_endpoint(
    path = "/mcp",
    name = "",
    version = 1,
    website_url = "example.com",
    revisions("2026-07-28", "2026-07-27", "2025-03-26", "2026-07-28"),
    instructions = concat!("a", "b"),
)]
struct Catalog;

#[mcp_endpoint(path = "/other", name = "other", version = "1.0.0", revisions())]
struct Other;

fn main() {}
