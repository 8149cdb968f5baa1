use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search(progress: Option<ProgressReporter>) -> Result<String, ToolError> {
    progress.report_blocking(1)?;
    if let Some(progress) = &progress {
        ProgressReporter::report_blocking(progress, 2)?;
    }
    Ok(String::new())
}

fn main() {}
