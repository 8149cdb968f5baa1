use mcp_runtime::prelude::*;

type Progressing = Option<ProgressReporter>;
type Token = CancellationToken;
type Answer = Result<String, ToolError>;

#[mcp_tool]
async fn search(query: String, progress: Progressing, token: Token) -> Answer {
    token.check()?;
    progress.report(1).await?;
    Ok(query)
}

fn main() {}
