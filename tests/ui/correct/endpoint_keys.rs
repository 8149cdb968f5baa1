use mcp_runtime::prelude::*;

/// Spare parts, searchable.
#[mcp_endpoint(
    path = "/catalog/mcp",
    name = "catalog",
    version = "1.0.0",
    title = "Catalog",
    description = "Parts.",
    website_url = "https://example.com/catalog",
    instructions = "Search first.",
    icons(
        "https://example.com/icon.png",
        "data:image/png;base64,AAAA",
        icon(src = "https://example.com/dark.svg", mime_type = "image/svg+xml", sizes("any", "48x48"), theme = "dark"),
    ),
    revisions("2026-07-28"),
    ttl = "1h",
    scope = "public",
    extra_arguments = "ignore",
    changes(tools, prompts, resources, updates),
    subscribable = may_be_heard,
)]
struct Catalog;

fn may_be_heard(uri: &str) -> bool {
    uri.starts_with("catalog://")
}

#[mcp_endpoint(path = "/a-b/c_d.e~f", name = "plain", version = "0")]
struct Braces {}

#[mcp_endpoint(path = "/tuple", name = "tuple", version = "0")]
struct Tuple();

fn main() {}
