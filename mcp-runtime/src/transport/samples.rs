//! A server for the tests of this room.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};

use crate::{
    engine::{AdmissionChoice, Engine, Gate, Lifecycle, Limits, Live, Shared, StateKeys},
    handler::{
        Args, CancellationReason, CancellationToken, OptionalProgress, ProgressReporter, StateMap, ToolError,
    },
    protocol::ToolResult,
    registry::{Endpoint, Tool, catalog::Catalog},
    request_state::{KeyRing, StateSealer},
    subscription::{AuthorizerChoice, Hub},
};

/// What a handler tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Started,
    Cancelled(CancellationReason),
}

#[derive(Deserialize, JsonSchema)]
struct Input {
    #[serde(default)]
    text: String,
    #[serde(default)]
    number: u64,
}

/// An engine, and what its tool `hang` tells.
pub(crate) fn engine(change: impl FnOnce(&mut Limits)) -> (Live, mpsc::UnboundedReceiver<Event>) {
    engine_with(change, AdmissionChoice::Anonymous)
}

pub(crate) fn engine_with(
    change: impl FnOnce(&mut Limits),
    admission: AdmissionChoice,
) -> (Live, mpsc::UnboundedReceiver<Event>) {
    let mut limits = Limits::default();
    change(&mut limits);
    let (events, told) = mpsc::unbounded_channel();
    let hang = move |cancellation: CancellationToken, progress: Option<ProgressReporter>| {
        let events = events.clone();
        async move {
            let _ = events.send(Event::Started);
            progress.report(1).await?;
            let reason = cancellation.cancelled().await;
            let _ = events.send(Event::Cancelled(reason));
            Ok::<_, ToolError>("too late")
        }
    };
    let endpoint = Endpoint::builder("/mcp")
        .tool(Tool::new("echo").handler(async |Args(Input { text, .. }): Args<Input>| text))
        .tool(Tool::new("wait").handler(async |Args(Input { number, .. }): Args<Input>| {
            tokio::time::sleep(Duration::from_secs(number)).await;
            "waited"
        }))
        .tool(Tool::new("count").handler(
            async |Args(Input { number, .. }): Args<Input>, progress: Option<ProgressReporter>| {
                for done in 1..=number {
                    progress.report(done).await?;
                }
                Ok::<_, ToolError>("counted")
            },
        ))
        .tool(Tool::new("pretty").handler(async || {
            let raw = serde_json::value::RawValue::from_string("{\r\n  \"a\": \"\\n\"\n}".to_owned())?;
            Ok::<_, ToolError>(ToolResult::structured_raw(raw).without_mirror())
        }))
        .tool(Tool::new("hang").handler(hang));
    let (state, mut faults) = (StateMap::default(), Vec::new());
    let catalog = Catalog::build(&endpoint, &state, limits.list_page, &mut faults);
    assert_eq!(faults, []);
    let states = StateSealer::new(Arc::new(KeyRing::development().unwrap()), None, limits.states());
    let shared = Shared {
        lifecycle: Lifecycle::new(),
        gate: Gate::new(limits.max_concurrent_handlers, limits.handler_queue),
        blocking: Arc::new(Semaphore::new(limits.max_blocking_handlers)),
        subscriptions: Arc::new(Hub::new(1, limits.subscriptions(), AuthorizerChoice::AllowAll, None, None)),
        registration: Mutex::new(None),
        limits,
        state: Arc::new(state),
        admission,
        request_limit: None,
        tool_limit: None,
        policy: None,
        states,
        state_keys: StateKeys::Unchosen,
    };
    let engine = Engine { shared: Arc::new(shared), catalog: Arc::new(catalog), number: 0 };
    (Live::new(engine, endpoint), told)
}

/// A line that calls a tool and asks for its progress.
pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: &Value) -> String {
    let id = id.into();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": id,
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let message = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
    format!("{message}\n")
}
