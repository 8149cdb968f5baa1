//! Tools that say what has changed, to all who subscribed to it.

use mcp_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Everything;

/// Says that the list of tools has changed.
#[mcp_tool(endpoint = Everything)]
async fn test_trigger_tool_change(publisher: Publisher) -> Result<&'static str, ToolError> {
    publisher.tools_changed()?;
    Ok("The list of tools has changed, so to speak.")
}

/// Says that the list of prompts has changed.
#[mcp_tool(endpoint = Everything)]
async fn test_trigger_prompt_change(publisher: Publisher) -> Result<&'static str, ToolError> {
    publisher.prompts_changed()?;
    Ok("The list of prompts has changed, so to speak.")
}

/// Says that a resource was updated.
#[mcp_tool(endpoint = Everything)]
async fn publish(
    /// The URI of the resource.
    uri: String,
    /// How often to say it.
    times: u32,
    publisher: Publisher,
    cancellation: CancellationToken,
) -> Result<String, ToolError> {
    for _ in 0..times {
        cancellation.check()?;
        publisher.resource_updated(&uri)?;
    }
    Ok(format!("Published {times} updates of {uri}."))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Family {
    Tools,
    Prompts,
    Resources,
}

/// Says that a list has changed.
#[mcp_tool(endpoint = Everything)]
async fn publish_catalog(
    /// Which list.
    kind: Family,
    publisher: Publisher,
) -> Result<&'static str, ToolError> {
    match kind {
        Family::Tools => publisher.tools_changed()?,
        Family::Prompts => publisher.prompts_changed()?,
        Family::Resources => publisher.resources_changed()?,
    }
    Ok("Published.")
}
