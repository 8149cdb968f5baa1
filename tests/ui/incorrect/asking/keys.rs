use mcp_runtime::prelude::*;

#[mcp_tool(asks(elicitations, roots), requires(rots))]
async fn typo(ask: Ask) -> String {
    format!("{ask:?}")
}

#[mcp_tool(asks)]
async fn empty(first: Ask, second: Ask) -> String {
    format!("{first:?} {second:?}")
}

fn main() {}
