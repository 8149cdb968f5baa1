use mcp_runtime::prelude::*;

use std::rc::Rc;

#[mcp_tool]
async fn search(query: String, cancellation: CancellationToken) -> String {
    let shared = Rc::new(query);
    cancellation.cancelled().await;
    shared.to_string()
}

fn main() {}
