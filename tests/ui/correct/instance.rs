use mcp_runtime::prelude::*;

use std::sync::atomic::{AtomicU32, Ordering};

#[mcp_endpoint(path = "/counter", name = "counter", version = "1.0.0")]
pub(crate) struct Counter {
    calls: AtomicU32,
    name: String,
}

#[mcp_endpoint]
impl Counter {
    #[mcp_tool]
    async fn count(&self, cancellation: CancellationToken) -> Result<String, ToolError> {
        let name = &self.name;
        tokio::task::yield_now().await;
        cancellation.check()?;
        Ok(format!("{name}{}", self.calls.fetch_add(1, Ordering::Relaxed)))
    }
}

fn main() {
    let _ = Counter { calls: AtomicU32::new(0), name: String::new() };
}
