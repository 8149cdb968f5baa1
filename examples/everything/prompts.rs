//! Prompts, and completion of their arguments.

use mcp_runtime::prelude::*;

use crate::{Everything, content::PNG};

/// A prompt without arguments.
#[mcp_prompt(endpoint = Everything)]
async fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// A prompt with two arguments.
#[mcp_prompt(endpoint = Everything)]
async fn test_prompt_with_arguments(
    /// The first argument.
    arg1: String,
    /// The second argument.
    arg2: String,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

/// Suggests values that begin as typed.
#[mcp_completion(endpoint = Everything, prompt = "test_prompt_with_arguments", argument = "arg1")]
async fn arg1(value: String) -> Vec<String> {
    let known = ["testValue1", "testValue2", "another"];
    let fits = known.into_iter().filter(|known| known.starts_with(&value));
    fits.map(str::to_owned).collect()
}

/// A prompt that shows a resource.
#[mcp_prompt(endpoint = Everything)]
async fn test_prompt_with_embedded_resource(
    /// The URI of the resource.
    #[mcp(rename = "resourceUri")]
    resource_uri: String,
) -> Vec<PromptMessage> {
    let resource = ResourceContents::text(resource_uri, "Embedded resource content for testing.");
    vec![
        PromptMessage::user(Content::resource(resource.with_mime_type("text/plain"))),
        PromptMessage::user("Please process the embedded resource above."),
    ]
}

/// A prompt that shows an image.
#[mcp_prompt(endpoint = Everything)]
async fn test_prompt_with_image() -> Vec<PromptMessage> {
    vec![
        PromptMessage::user(Content::image(PNG, "image/png")),
        PromptMessage::user("Please analyze the image above."),
    ]
}
