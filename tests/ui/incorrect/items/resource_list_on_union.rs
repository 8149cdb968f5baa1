use mcp_runtime::prelude::*;

#[mcp_resource_list]
union Catalog {
    a: u32,
}

fn main() {}
