//! Cancellation: who signals it, when, and what becomes of a handler that was signalled.

mod aftermath;
mod deadlines;
mod signals;

use std::sync::{
    Arc, Mutex,
    mpsc::{self, SyncSender},
};

use mcp_runtime::{McpServer, prelude::*, server::ServerBuilder};
use mcp_tests::{Local, Message, Probe, Stream, seconds};
use serde_json::json;
use tokio::task::JoinHandle;

#[mcp_endpoint(path = "/mcp", name = "cancellation", version = "1.0.0")]
struct Cancelling;

#[mcp_endpoint]
impl Cancelling {
    /// Reports if it can, and ends when it is told to.
    #[mcp_tool]
    async fn cooperative(
        progress: Option<ProgressReporter>,
        token: CancellationToken,
        State(probe): State<Probe>,
    ) -> Result<&'static str, ToolError> {
        let _dropped = probe.note_on_drop("dropped");
        let _ = token.on_cancel({
            let probe = probe.clone();
            move |reason| probe.note(format!("{reason:?}"))
        });
        let _kept = token.on_cancel({
            let probe = probe.clone();
            move |reason| probe.note(format!("callback: {reason}"))
        });
        progress.report(1).await?;
        probe.note("started");
        token.cancelled().await;
        token.check()?;
        Ok("never")
    }

    /// Hears nothing, and goes on for a minute.
    #[mcp_tool]
    async fn deaf(progress: Option<ProgressReporter>, State(probe): State<Probe>) -> &'static str {
        let _dropped = probe.note_on_drop("dropped");
        let _ = progress.report(1).await;
        probe.note("started");
        tokio::time::sleep(seconds(60)).await;
        let late = progress.report(2).await;
        probe.note(format!("finished: {late:?}"));
        "late"
    }

    /// Ends when it is permitted to.
    #[mcp_tool(timeout = "5m")]
    async fn led(token: CancellationToken, State(probe): State<Probe>) -> String {
        probe.note("started");
        probe.permitted().await;
        format!("{:?}", token.reason())
    }

    #[mcp_tool(timeout = "2s")]
    async fn impatient() {
        std::future::pending().await
    }

    #[mcp_tool]
    async fn busy(progress: Option<ProgressReporter>) -> Result<(), ToolError> {
        for step in 0_u32.. {
            progress.report(step).await?;
            tokio::time::sleep(seconds(7)).await;
        }
        Ok(())
    }

    #[mcp_tool]
    async fn panics_when_cancelled(token: CancellationToken, State(probe): State<Probe>) {
        probe.note("started");
        token.cancelled().await;
        probe.note("panicking");
        panic!("at the worst time");
    }

    /// Registers what it should not need.
    #[mcp_tool]
    async fn callbacks(token: CancellationToken, State(probe): State<Probe>) {
        let note = |what: &'static str| {
            let probe = probe.clone();
            move |_| probe.note(what)
        };
        let removed = token.on_cancel(note("removed"));
        let _bad = token.on_cancel(|_| panic!("in a callback"));
        let _first = token.on_cancel(note("kept"));
        let _second = token.on_cancel(note("kept"));
        token.on_cancel(note("detached")).detach();
        drop(removed);
        probe.note("started");
        token.cancelled().await;
        let _late = token.on_cancel(note("late"));
        probe.note("after late");
    }

    /// Gives its token away.
    #[mcp_tool]
    async fn leaking(
        progress: Option<ProgressReporter>,
        token: CancellationToken,
        State(kept): State<Kept>,
        State(probe): State<Probe>,
    ) -> Result<&'static str, ToolError> {
        token.on_cancel(move |_| probe.note("never")).detach();
        progress.report(1).await?;
        if let Ok(mut kept) = kept.0.lock() {
            *kept = Some(token);
        }
        Ok("done")
    }

    /// Blocks its thread until somebody lets it go.
    #[mcp_tool]
    fn blocking(
        token: CancellationToken,
        State(probe): State<Probe>,
        State(Release(release)): State<Release>,
    ) -> String {
        let (sender, receiver) = mpsc::sync_channel::<()>(1);
        if let Ok(mut release) = release.lock() {
            release.push(sender);
        }
        probe.note("started");
        // A test that fails lets go as well.
        let _ = receiver.recv_timeout(seconds(20));
        probe.note(format!("returned: {:?}", token.reason()));
        "too late".to_owned()
    }

    #[mcp_prompt]
    async fn prompt(State(probe): State<Probe>, token: CancellationToken) -> String {
        stop(probe, token).await
    }

    #[mcp_resource(uri = "x://resource")]
    async fn resource(State(probe): State<Probe>, token: CancellationToken) -> String {
        stop(probe, token).await
    }

    #[mcp_completion(resource = "x://items/{id}", argument = "id")]
    async fn completion(State(probe): State<Probe>, token: CancellationToken) -> Vec<String> {
        vec![stop(probe, token).await]
    }

    #[mcp_resource(uri = "x://items/{id}")]
    async fn item(id: String) -> String {
        id
    }

    #[mcp_resource_list]
    async fn list(State(probe): State<Probe>, token: CancellationToken) -> Vec<ResourceEntry> {
        vec![ResourceEntry::new("x://resource", stop(probe, token).await)]
    }
}

async fn stop(probe: Probe, token: CancellationToken) -> String {
    probe.note("started");
    let reason = token.cancelled().await;
    probe.note(format!("{reason:?}"));
    String::new()
}

/// A token that outlives its call.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Option<CancellationToken>>>);

impl Release {
    fn all(&self) {
        self.0.lock().expect("no panic").drain(..).for_each(drop);
    }
}

/// Lets blocking handlers return.
#[derive(Clone, Default)]
struct Release(Arc<Mutex<Vec<SyncSender<()>>>>);

fn builder(probe: &Probe) -> ServerBuilder {
    McpServer::builder()
        .endpoint(Cancelling)
        .state(probe.clone())
        .state(Kept::default())
        .state(Release::default())
}

fn server() -> (Local, Probe) {
    let probe = Probe::new();
    (Local::new(builder(&probe)), probe)
}

fn call(tool: &str) -> Message {
    Message::call(tool, json!({}))
}

/// Starts a call whose client waits for its answer.
async fn started(local: &Local, probe: &Probe, message: &Message) -> JoinHandle<Stream> {
    let before = probe.notes().iter().filter(|note| *note == "started").count();
    let waiting = tokio::spawn(local.open(message));
    probe.counted("started", before + 1).await;
    waiting
}
