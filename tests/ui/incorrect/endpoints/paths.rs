use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "mcp", name = "catalog", version = "1.0.0")]
struct Relative;

#[mcp_endpoint(path = "/", name = "catalog", version = "1.0.0")]
struct Root;

#[mcp_endpoint(path = "/mcp/", name = "catalog", version = "1.0.0")]
struct TrailingSlash;

#[mcp_endpoint(path = "/catalog//mcp", name = "catalog", version = "1.0.0")]
struct DoubleSlash;

#[mcp_endpoint(path = "/catalog/../mcp", name = "catalog", version = "1.0.0")]
struct Dots;

#[mcp_endpoint(path = "/mcp?a=b", name = "catalog", version = "1.0.0")]
struct Query;

#[mcp_endpoint(path = "/mcp#a", name = "catalog", version = "1.0.0")]
struct Fragment;

#[mcp_endpoint(path = "/{tenant}/mcp", name = "catalog", version = "1.0.0")]
struct Variable;

#[mcp_endpoint(path = "/spare parts", name = "catalog", version = "1.0.0")]
struct Space;

#[mcp_endpoint(path = "/caf%C3%A9", name = "catalog", version = "1.0.0")]
struct Encoded;

fn main() {}
