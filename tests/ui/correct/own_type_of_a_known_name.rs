use mcp_runtime::prelude::{mcp_tool, ToolError};

/// No relative of the framework's type.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct ProgressReporter {
    email: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct CancellationToken(u32);

#[mcp_tool]
async fn complain(by: ProgressReporter, first: CancellationToken, second: CancellationToken) -> Result<String, ToolError> {
    Ok(format!("{}{}{}", by.email, first.0, second.0))
}

fn main() {}
