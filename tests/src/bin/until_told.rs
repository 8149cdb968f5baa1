//! A server for tests of its process: it prints its address, and serves until it is told to end.

use mcp_runtime::prelude::*;

/// Reports that it has begun, and returns the next line of standard input.
fn wait_for_a_line(progress: &Option<ProgressReporter>) -> Result<String, ToolError> {
    progress.report_blocking(1)?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let tool = Tool::new("wait_for_a_line").handler(async |progress: Option<ProgressReporter>| {
        tokio::task::spawn_blocking(move || wait_for_a_line(&progress)).await?
    });
    let server = McpServer::builder().endpoint(Endpoint::builder("/mcp").tool(tool));
    server.serve_with(listener).await?;
    Ok(())
}
