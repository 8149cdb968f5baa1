use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/a", name = "a", version = "1", changes(tool, updates))]
struct Misspelt;

#[mcp_endpoint(path = "/b", name = "b", version = "1", changes())]
struct Nothing;

#[mcp_endpoint(path = "/c", name = "c", version = "1", changes = "tools")]
struct Text;

#[mcp_endpoint(path = "/d", name = "d", version = "1", changes(tools, tools))]
struct Twice;

#[mcp_endpoint(path = "/e", name = "e", version = "1", changes(updates), subscribable = "all")]
struct NoPath;

fn by_value(_: String) -> bool {
    true
}

#[mcp_endpoint(path = "/f", name = "f", version = "1", changes(updates), subscribable = by_value)]
struct WrongSignature;

#[mcp_endpoint(path = "/g", name = "g", version = "1", change(tools))]
struct UnknownKey;

fn main() {}
