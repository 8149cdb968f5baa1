use mcp_runtime::prelude::*;

#[mcp_resource_list]
use std::fmt;

fn main() {}
