use mcp_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Plain {
    name: String,
}

/// Asks for what is no form.
#[mcp_tool]
async fn plain(ask: Ask) -> String {
    match ask.elicit::<Plain>("name", "Who?").await {
        Elicited::Accepted(Plain { name }) => name,
        _ => String::new(),
    }
}

fn main() {}
