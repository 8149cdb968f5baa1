//! What goes over the wire: errors and their order, headers, HTTP itself, connections.

mod connections;
mod cors;
mod errors;
mod headers;
mod http;
mod order;

use mcp_runtime::{
    prelude::*,
    server::{IntoEndpoint, ServerBuilder},
};

/// What the messages of these tests are for.
#[mcp_endpoint(path = "/mcp", name = "wire", version = "1.0.0")]
struct Wire;

#[mcp_endpoint]
impl Wire {
    #[mcp_tool]
    async fn echo(text: String) -> String {
        text
    }

    /// Takes arguments that are mirrored into headers.
    #[mcp_tool]
    async fn ship(
        #[mcp(header = "Region")] region: Option<String>,
        #[mcp(header = "Count")] count: Option<i64>,
        #[mcp(header = "Urgent")] urgent: Option<bool>,
    ) -> String {
        format!("{region:?} {count:?} {urgent:?}")
    }

    #[mcp_tool(requires(sampling, roots))]
    async fn demanding() -> &'static str {
        "satisfied"
    }

    #[mcp_tool]
    async fn failing() -> Result<String, ToolError> {
        Err("out of luck".into())
    }

    #[mcp_tool]
    async fn panicking() -> String {
        panic!("the password is hunter2")
    }

    /// Reports once, and ends when the client goes away.
    #[mcp_tool]
    async fn endless(progress: Option<ProgressReporter>, cancellation: CancellationToken) {
        let _ = progress.report(1).await;
        cancellation.cancelled().await;
    }

    /// Reports three times.
    #[mcp_tool]
    async fn counting(progress: Option<ProgressReporter>) -> Result<&'static str, ToolError> {
        for step in 1..=3 {
            progress.report(step).await?;
            tokio::task::yield_now().await;
        }
        Ok("counted")
    }

    #[mcp_resource(uri = "wire://text")]
    async fn text() -> &'static str {
        "some text"
    }

    #[mcp_resource(uri = "wire://failing/{how}")]
    async fn failing_resource(how: String) -> Result<String, ResourceError> {
        match &*how {
            "plainly" => Err(ResourceError::new("the disk is full")),
            "by-code" => Err(ResourceError::application(4711, "try the other shelf")),
            "with-data" => Err(ResourceError::application(4711, "moved")
                .with_data(serde_json::json!({ "to": "wire://text" }))),
            "secretly" => Err(ResourceError::internal("the password is hunter2")),
            _ => Err(ResourceError::not_found()),
        }
    }

    #[mcp_prompt]
    async fn greeting(name: String) -> Result<String, PromptError> {
        match &*name {
            "nobody" => Err("there is nobody to greet".into()),
            name => Ok(format!("Greet {name}.")),
        }
    }

    #[mcp_completion(prompt = "greeting", argument = "name")]
    async fn names() -> Vec<&'static str> {
        vec!["Ada"]
    }
}

fn server() -> ServerBuilder {
    serving(Wire)
}

fn serving(endpoint: impl IntoEndpoint) -> ServerBuilder {
    McpServer::builder().endpoint(endpoint)
}
