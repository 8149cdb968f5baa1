//! A server that its client starts as a child process, and talks to over standard input and output.
//!
//! Clients are configured with the command, usually in this form:
//!
//! ```json
//! { "mcpServers": { "lines": { "command": "cargo", "args": ["run", "--quiet", "--example", "stdio"] } } }
//! ```

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::PathBuf,
};

use mcp_runtime::prelude::*;

// Not `async`: it runs on a thread for work that blocks, and reports its progress with `report_blocking`.
/// Counts the lines of a text file.
#[mcp_tool(read_only)]
fn count_lines(
    /// The path of the file.
    path: PathBuf,
    progress: Option<ProgressReporter>,
    cancellation: CancellationToken,
) -> Result<String, ToolError> {
    let file = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let size = file.metadata()?.len();
    let (mut lines, mut read) = (0_u64, 0);
    for line in BufReader::new(file).split(b'\n') {
        read += line?.len() + 1;
        lines += 1;
        if lines.is_multiple_of(100_000) {
            cancellation.check()?;
            progress.report_blocking(Progress::new(read).total(size))?;
        }
    }
    Ok(format!("{} has {lines} lines.", path.display()))
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    // Standard output belongs to the protocol: logs go to standard error.
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    McpServer::from_annotations().serve_stdio().await
}
