//! A client for the tests of your own server: in the process, without a socket.
//!
//! A [`Client`] calls the same engine that HTTP and stdio call: admission, limits, deadlines, schemas, progress and
//! cancellation are those of the real thing. It works under tokio's paused time, so that a test of a timeout takes no
//! time. Only what is HTTP's own (headers, status codes, connections) is not there.
//!
//! ```
//! use mcp_runtime::{prelude::*, testing::Client};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Countdown { from: u32 }
//!
//! async fn countdown(Args(Countdown { from }): Args<Countdown>, progress: Option<ProgressReporter>) -> Result<String, ToolError> {
//!     for done in 0..from {
//!         progress.report(Progress::new(done).total(from)).await?;
//!         tokio::time::sleep(std::time::Duration::from_secs(1)).await;
//!     }
//!     Ok("lift-off".to_owned())
//! }
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let endpoint = Endpoint::builder("/mcp").tool(Tool::new("countdown").handler(countdown));
//! let server = McpServer::builder().endpoint(endpoint).build()?;
//! let client = Client::new(&server);
//!
//! // A call is a builder; awaiting it makes the call.
//! let response = client.call("countdown").arg("from", 3).with_progress().await?;
//! assert_eq!(response.text(), "lift-off");
//! assert_eq!(response.progress().len(), 3);
//!
//! // Arguments that don't fit are the tool's failure, as they are for a model.
//! assert!(client.call("countdown").args(json!({ "from": "ten" })).await?.is_error());
//!
//! // A protocol error is an `RpcError`.
//! let error = client.call("count-down").await.unwrap_err();
//! assert_eq!(error.code, -32602);
//!
//! // A call can be watched while it runs, and given up.
//! let mut running = client.call("countdown").arg("from", 1000).with_progress().start();
//! let first = running.next_progress().await.expect("a report");
//! assert_eq!((first.progress, first.total), (0.0, Some(1000.0)));
//! drop(running);
//! # Ok(())
//! # }
//! ```
//!
//! Requests speak the newest revision. [`Client::revision`] speaks an older one, as clients do that begin with
//! `initialize`.
//!
//! A handler that asks its client ([`Ask`](crate::handler::Ask)) is answered by the call: the client makes the request
//! again for each round, as the specification says.
//!
//! ```no_run
//! # async fn example(client: mcp_runtime::testing::Client) -> Result<(), Box<dyn std::error::Error>> {
//! # use serde_json::json;
//! let response = client.call("book").arg("table", 4).answer("confirm", json!({ "yes": true })).await?;
//! assert_eq!(response.text(), "Table 4 is yours.");
//! assert_eq!(response.asked()[0].message(), Some("Book table 4?"));
//! # Ok(())
//! # }
//! ```
//!
//! In a test of your own, `#[tokio::test(start_paused = true)]` gives the runtime that it needs.

mod answers;
mod call;
mod client;
mod error;
mod handshake;
mod listening;
mod response;
mod running;
#[cfg(test)]
mod tests;

pub use self::{
    answers::Question,
    call::Call,
    client::Client,
    error::RpcError,
    listening::{Heard, Listen, Listening},
    response::{
        CompletionResponse, LogMessage, ProgressUpdate, PromptResponse, ReadResponse, Response, ToolResponse,
    },
    running::Running,
};
