use mcp_runtime::prelude::*;

#[mcp_tool]
fn search(query: String, progress: Option<ProgressReporter>) -> Result<String, ToolError> {
    progress.report_blocking(1)?;
    for step in 2..4 {
        if let Some(progress) = &progress {
            progress.report_blocking(Progress::new(step).total(4))?;
        }
    }
    // What a plain function holds need not be `Send`.
    let shared = std::rc::Rc::new(query);
    Ok(shared.to_string())
}

#[mcp_resource(uri = "catalog://parts/{id}")]
fn part(id: u32) -> String {
    id.to_string()
}

#[mcp_prompt]
fn greet(name: String) -> &'static str {
    drop(name);
    "Hello"
}

#[mcp_tool]
async fn reports_on_a_thread(progress: Option<ProgressReporter>) -> Result<String, ToolError> {
    tokio::task::spawn_blocking(move || progress.report_blocking(1)).await??;
    Ok(String::new())
}

fn main() {}
