//! A server for tests of subscriptions over standard input and output.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use mcp_runtime::{
    prelude::*,
    subscription::{BoxError, Grant, Permission, SubscriptionAuthorizer, SubscriptionCheck, Subscriptions},
};

#[mcp_endpoint(path = "/mcp", name = "stdio", version = "1.0.0", changes(tools, updates))]
struct Lines;

#[mcp_endpoint]
impl Lines {
    /// Says that a resource has changed.
    #[mcp_tool]
    async fn touch(uri: String, publisher: Publisher) -> Result<&'static str, ToolError> {
        publisher.resource_updated(&uri)?;
        Ok("told")
    }

    /// Denies every subscription from now on, except those to lists.
    #[mcp_tool]
    async fn deny(State(denied): State<Denied>) -> &'static str {
        denied.flag.store(true, SeqCst);
        if let Some(subscriptions) = denied.subscriptions.get() {
            subscriptions.reconcile();
        }
        "denied"
    }

    /// How many streams are open.
    #[mcp_tool]
    async fn open(State(denied): State<Denied>) -> String {
        denied.subscriptions.get().map_or(0, Subscriptions::open).to_string()
    }

    #[mcp_resource(uri = "note://{id}")]
    async fn note(id: String) -> String {
        id
    }
}

#[derive(Clone, Default)]
struct Denied {
    flag: Arc<AtomicBool>,
    subscriptions: Arc<OnceLock<Subscriptions>>,
}

impl SubscriptionAuthorizer for Denied {
    async fn authorize(&self, check: &SubscriptionCheck<'_>) -> Result<Permission, BoxError> {
        let denied = self.flag.load(SeqCst) && check.selection().uris().len() > 0;
        Ok(if denied {
            Permission::Denied
        } else {
            Grant::lasting(std::time::Duration::from_secs(60)).into()
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let denied = Denied::default();
    let server =
        McpServer::builder().endpoint(Lines).state(denied.clone()).subscription_authorizer(denied.clone());
    let server = server.build()?;
    let _ = denied.subscriptions.set(server.subscriptions());
    server.serve_stdio().await?;
    Ok(())
}
