//! Tools that use what a handler can be given.

use std::time::Duration;

use mcp_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::Everything;

/// Reports progress three times.
#[mcp_tool(endpoint = Everything)]
async fn test_tool_with_progress(progress: Option<ProgressReporter>) -> Result<&'static str, ToolError> {
    for done in [0, 50, 100] {
        progress.report(Progress::new(done).total(100)).await?;
        sleep(Duration::from_millis(50)).await;
    }
    Ok("Done, in three steps.")
}

/// Logs, if the client asked for it.
#[mcp_tool(endpoint = Everything)]
async fn test_logging_tool(logger: Logger) -> &'static str {
    let logger = logger.named("test_logging_tool");
    logger.debug("called").await;
    logger.info(json!({ "message": "still here", "step": 1 })).await;
    "Logged, if you asked for it."
}

/// Needs a client that can sample.
#[mcp_tool(endpoint = Everything, requires(sampling))]
async fn test_missing_capability() -> &'static str {
    "Your client can sample."
}

/// Returns an argument that is sent as a header, too.
#[mcp_tool(endpoint = Everything, read_only)]
async fn test_custom_header(
    /// Mirrored into `Mcp-Param-Value`.
    #[mcp(header = "Value")]
    value: String,
) -> String {
    value
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Contact {
    name: String,
    address: Option<Address>,
    prefers_phone: Option<bool>,
    phone: Option<String>,
    email: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Address {
    street: String,
    city: String,
}

/// Takes arguments that a hand-written schema describes.
#[mcp_tool(endpoint = Everything, read_only, input_schema = contact_schema)]
async fn json_schema_2020_12_tool(Args(contact): Args<Contact>) -> String {
    let way = if contact.prefers_phone == Some(true) { contact.phone } else { contact.email };
    let city = contact.address.map(|Address { street, city }| format!(" of {street}, {city}"));
    format!("{}{}: {}", contact.name, city.unwrap_or_default(), way.unwrap_or_default())
}

fn contact_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "address",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
                "required": ["street", "city"],
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "prefersPhone": { "type": "boolean" },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "required": ["name"],
        "additionalProperties": false,
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "prefersPhone": { "const": true } }, "required": ["prefersPhone"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
    })
}
