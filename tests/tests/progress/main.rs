//! Progress: when a response becomes a stream, what is sent over it, and how it is paced.

mod pacing;
mod reports;

use std::sync::{Arc, Mutex};

use mcp_runtime::{McpServer, prelude::*, server::ServerBuilder};
use mcp_tests::{Local, Message, Probe, Reply};
use serde_json::json;

#[mcp_endpoint(path = "/mcp", name = "progress", version = "1.0.0")]
struct Working;

#[mcp_endpoint]
impl Working {
    /// Reports each of `steps`, and notes what became of it.
    #[mcp_tool]
    async fn report(
        steps: Vec<f64>,
        progress: Option<ProgressReporter>,
        State(probe): State<Probe>,
    ) -> Result<&'static str, ToolError> {
        for step in steps {
            let outcome = progress.report(step).await;
            probe.note(outcome.map_or_else(|error| error.to_string(), |()| step.to_string()));
        }
        Ok("done")
    }

    /// Reports a step whenever it is permitted to.
    #[mcp_tool]
    async fn led(
        steps: u32,
        progress: Option<ProgressReporter>,
        State(probe): State<Probe>,
    ) -> Result<&'static str, ToolError> {
        for step in 1..=steps {
            probe.permitted().await;
            progress.report(step).await?;
        }
        probe.permitted().await;
        Ok("done")
    }

    #[mcp_tool]
    async fn detailed(progress: Option<ProgressReporter>) -> Result<&'static str, ToolError> {
        progress.report(Progress::new(0.5).total(2).message("half\nof one")).await?;
        progress.report(Progress::new(2_u64).total(2.5)).await?;
        Ok("done")
    }

    #[mcp_tool]
    async fn decreasing(progress: Option<ProgressReporter>) -> Result<&'static str, ToolError> {
        progress.report(2).await?;
        progress.report(1).await?;
        Ok("never")
    }

    #[mcp_tool]
    async fn panicking(progress: Option<ProgressReporter>) -> Result<&'static str, ToolError> {
        progress.report(1).await?;
        tokio::task::yield_now().await;
        panic!("the password is hunter2")
    }

    /// Gives its reporter away.
    #[mcp_tool]
    async fn leaking(
        progress: Option<ProgressReporter>,
        State(kept): State<Arc<Mutex<Option<ProgressReporter>>>>,
    ) -> Result<&'static str, ToolError> {
        progress.report(1).await?;
        *kept.lock().map_err(|_| "poisoned")? = progress;
        Ok("done")
    }

    /// Reports from many tasks at once.
    #[mcp_tool]
    async fn racing(progress: Option<ProgressReporter>) -> Result<&'static str, ToolError> {
        let tasks = (0..8_u32).map(|task| {
            let progress = progress.clone();
            tokio::spawn(async move {
                for step in 0..100_u32 {
                    // Lower than another task's is refused: that is the point.
                    let _ = progress.report(step * 8 + task).await;
                    tokio::task::yield_now().await;
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await?;
        }
        Ok("done")
    }

    #[mcp_tool]
    fn blocking(
        steps: u32,
        progress: Option<ProgressReporter>,
        State(probe): State<Probe>,
    ) -> Result<String, ToolError> {
        for step in 1..=steps {
            progress.report_blocking(step)?;
            probe.note("reported");
        }
        Ok(format!("{} of {steps}", progress.is_some()))
    }

    #[mcp_prompt]
    async fn prompt(progress: Option<ProgressReporter>) -> Result<&'static str, PromptError> {
        progress.report(1).await?;
        Ok("prompted")
    }

    #[mcp_resource(uri = "x://{id}")]
    async fn resource(id: String, progress: Option<ProgressReporter>) -> Result<String, ResourceError> {
        progress.report(1).await?;
        if id == "none" { Err(ResourceError::not_found()) } else { Ok(id) }
    }
}

fn builder(probe: &Probe) -> ServerBuilder {
    McpServer::builder()
        .endpoint(Working)
        .state(probe.clone())
        .state(Arc::<Mutex<Option<ProgressReporter>>>::default())
}

fn server() -> (Local, Probe) {
    let probe = Probe::new();
    (Local::new(builder(&probe)), probe)
}

fn report(steps: &[f64]) -> Message {
    Message::call("report", json!({ "steps": steps })).progress_token("p")
}

/// What was reported, over a stream that ends with the answer.
fn reported(reply: &Reply) -> Vec<f64> {
    let events = reply.events();
    let (answer, notifications) = events.split_last().expect("an answer");
    assert_eq!(answer["id"], 1, "{events:?}");
    let values = notifications.iter().map(|event| {
        assert_eq!((&event["jsonrpc"], &event["method"]), (&json!("2.0"), &json!("notifications/progress")));
        assert_eq!(event.get("id"), None);
        event["params"]["progress"].as_f64().expect("a number")
    });
    values.collect()
}
