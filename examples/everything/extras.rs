//! Tools that make progress, cancellation and failures observable from outside.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use mcp_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Everything;

/// How often `sleep` was cancelled.
#[derive(Clone, Default)]
pub struct Cancellations(Arc<AtomicU64>);

#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
struct Milliseconds(#[schemars(range(max = 20_000))] u32);

#[derive(Deserialize, JsonSchema)]
#[schemars(inline)]
struct Steps(#[schemars(range(max = 3_000_000))] u32);

#[derive(Serialize, JsonSchema)]
struct CancelledCount {
    count: u64,
}

#[derive(Serialize, JsonSchema)]
struct Counted {
    counted: u32,
}

#[derive(Serialize, JsonSchema)]
struct Refusals {
    /// For each value, why it was refused.
    errors: Vec<Option<String>>,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: f64,
}

/// Sleeps, unless it is cancelled.
#[mcp_tool(endpoint = Everything, read_only)]
async fn sleep(
    /// For how many milliseconds.
    ms: Milliseconds,
    cancellation: CancellationToken,
    State(Cancellations(cancellations)): State<Cancellations>,
) -> Result<String, ToolError> {
    let Milliseconds(ms) = ms;
    tokio::select! {
        () = tokio::time::sleep(Duration::from_millis(ms.into())) => Ok(format!("Slept {ms} ms.")),
        reason = cancellation.cancelled() => {
            cancellations.fetch_add(1, Relaxed);
            Err(Cancelled { reason }.into())
        }
    }
}

/// Tells how many calls of `sleep` noticed that they were cancelled.
#[mcp_tool(endpoint = Everything, read_only)]
async fn cancelled_count(State(Cancellations(count)): State<Cancellations>) -> Json<CancelledCount> {
    let count = count.load(Relaxed);
    Json(CancelledCount { count })
}

/// Counts, and reports each step.
#[mcp_tool(endpoint = Everything, read_only)]
async fn count(
    /// To what.
    n: Steps,
    progress: Option<ProgressReporter>,
    cancellation: CancellationToken,
) -> Result<Json<Counted>, ToolError> {
    let Steps(n) = n;
    for step in 1..=n {
        cancellation.check()?;
        progress.report(Progress::new(step).total(n)).await?;
    }
    Ok(Json(Counted { counted: n }))
}

/// Reports these values, and tells which of them were refused.
#[mcp_tool(endpoint = Everything, read_only)]
async fn progress_values(values: Vec<f64>, progress: Option<ProgressReporter>) -> Json<Refusals> {
    let mut errors = Vec::with_capacity(values.len());
    for value in values {
        let refusal = progress.report(value).await.err();
        errors.push(refusal.map(|error| error.to_string()));
    }
    Json(Refusals { errors })
}

/// Returns its argument.
#[mcp_tool(endpoint = Everything, read_only)]
async fn echo(text: String) -> String {
    text
}

/// Adds two numbers.
#[mcp_tool(endpoint = Everything, read_only)]
async fn add(a: f64, b: f64) -> Json<Sum> {
    Json(Sum { sum: a + b })
}

/// Fails.
#[mcp_tool(endpoint = Everything, read_only)]
async fn fail() -> Result<(), ToolError> {
    Err(ToolError::new("failed, as asked"))
}

/// Panics.
#[mcp_tool(endpoint = Everything, read_only)]
async fn panic() {
    panic!("as asked");
}

/// The item of any `id`.
#[mcp_resource(endpoint = Everything, uri = "bench://item/{id}", mime_type = "text/plain")]
async fn item(id: String, context: RequestContext) -> String {
    format!("Item {id}, requested as {}", context.target())
}
