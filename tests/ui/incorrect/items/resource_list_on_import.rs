use mcp_runtime::prelude::*;

#[mcp_resource_list]
pub use std::fmt;

fn main() {}
