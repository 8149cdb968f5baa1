//! Serves annotated functions as Model Context Protocol servers.
//!
//! ```standalone_crate
//! use mcp_runtime::{prelude::*, testing::Client};
//!
//! /// Adds two integers.
//! #[mcp_tool(read_only)]
//! async fn add(a: i64, b: i64) -> String {
//!     (a + b).to_string()
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = McpServer::from_annotations().build()?;
//! // `server.serve("127.0.0.1:8081").await` serves it; a test calls it without a socket:
//! let client = Client::new(&server);
//! assert_eq!(client.call("add").arg("a", 40).arg("b", 2).await?.text(), "42");
//! # Ok(())
//! # }
//! ```
//!
//! # The map
//!
//! - [`macro@mcp_tool`], [`macro@mcp_resource`], [`macro@mcp_resource_list`], [`macro@mcp_prompt`],
//!   [`macro@mcp_completion`], [`macro@mcp_endpoint`], [`derive@ElicitationForm`]: the attributes.
//! - [`handler`]: what a handler is given and may return.
//! - [`registry`]: endpoints as data; filling one by hand.
//! - [`server`]: building and serving.
//! - [`subscription`]: being told of changes.
//! - [`request_state`]: what a request of several rounds remembers, sealed.
//! - [`testing`]: a client for the tests of your own server.
//! - [`protocol`]: the wire as data.
//! - [`transport`]: byte streams.
//!
//! Rooms import one way: protocol ← handler ← registry ← subscription ← request_state ← engine ← transport ← server.

mod engine;
pub mod handler;
pub mod protocol;
pub mod registry;
pub mod request_state;
pub mod server;
pub mod subscription;
pub mod testing;
pub mod transport;

#[doc(hidden)]
pub mod __private;

#[cfg(feature = "rate-limit")]
pub use engine::TokenBucket;
pub use engine::{
    Admission, AdmissionRequest, Anonymous, Denied, Limits, RateLimit, RateLimited, ShutdownReport, anonymous,
};
pub use handler::ElicitationForm;
pub use mcp_macros::{
    ElicitationForm, mcp_completion, mcp_endpoint, mcp_prompt, mcp_resource, mcp_resource_list, mcp_tool,
};
pub use schemars;
pub use server::McpServer;

/// What nearly every server uses.
pub mod prelude {
    pub use crate::{
        Admission, AdmissionRequest, Denied, ElicitationForm, McpServer, anonymous,
        handler::{
            Args, Ask, Blob, Caller, CancellationReason, CancellationToken, Cancelled, CompletionError,
            Elicited, Extension, Form, FromInvocation, Invocation, Json, Logger, Needs, OptionalProgress,
            Progress, ProgressError, ProgressReporter, PromptError, Rejection, RequestContext, RequestState,
            ResourceEntry, ResourceError, ResourcePage, State, Text, ToolError,
        },
        mcp_completion, mcp_endpoint, mcp_prompt, mcp_resource, mcp_resource_list, mcp_tool,
        protocol::{
            Annotations, CacheHint, CacheScope, Capabilities, Completion, Content, LogLevel, PromptMessage,
            PromptResult, ReadResult, ResourceContents, ResourceLink, Revision, Role, Root, Sampled,
            Sampling, ToolResult,
        },
        registry::{
            BuildError, CompletionSource, Endpoint, Prompt, PromptArgument, Resource, ResourceList, Tool,
            ToolHints,
        },
        request_state::{KeyRing, StateKey},
        server::{ServeError, ServerBuilder, ServerHandle},
        subscription::{ChangeKind, ChangePublisher, Publisher},
    };
}
