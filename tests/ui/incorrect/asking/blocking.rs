use mcp_runtime::prelude::*;

/// Asks without an `async fn`.
#[mcp_tool]
fn blocking(ask: Ask) -> String {
    format!("{ask:?}")
}

/// Keeps a state without one.
#[mcp_prompt]
fn stateful(state: RequestState) -> String {
    format!("{state:?}")
}

fn main() {}
