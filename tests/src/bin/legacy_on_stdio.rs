//! A server for tests of older revisions over standard input and output.

use mcp_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;

/// What a handler knows of its client.
#[derive(Serialize, JsonSchema)]
struct Who {
    revision: String,
    client: Option<String>,
    roots: bool,
}

#[mcp_endpoint(path = "/mcp", name = "stdio", version = "1.0.0")]
struct Lines;

#[mcp_endpoint]
impl Lines {
    #[mcp_tool]
    async fn who(context: RequestContext) -> Json<Who> {
        let client = context.client_info().map(|info| info.name.clone());
        let roots = context.client_capabilities().roots();
        Json(Who { revision: context.revision().to_string(), client, roots })
    }

    /// Reports once, and ends when it is told to.
    #[mcp_tool]
    async fn hang(
        progress: Option<ProgressReporter>,
        token: CancellationToken,
        State(reason): State<watch::Sender<String>>,
    ) -> Result<&'static str, ToolError> {
        token.on_cancel(move |why| drop(reason.send_replace(format!("{why:?}")))).detach();
        progress.report(1).await?;
        token.cancelled().await;
        Ok("never")
    }

    /// Waits until the other tool was cancelled, and says why.
    #[mcp_tool]
    async fn cancelled(State(reason): State<watch::Sender<String>>) -> Result<String, ToolError> {
        Ok(reason.subscribe().wait_for(|reason| !reason.is_empty()).await?.clone())
    }
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    let server = McpServer::builder().endpoint(Lines).state(watch::Sender::<String>::default());
    server.serve_stdio().await
}
