use mcp_runtime::prelude::*;

#[derive(Clone)]
struct Stock {
    parts: u32,
}

#[mcp_tool]
async fn search(
    State(stock): State<Stock>,
    State(Stock { parts }): State<Stock>,
    limit: State<u32>,
    State(name): State<&'static str>,
    Extension(user): Extension<String>,
    session: Option<Extension<u64>>,
) -> String {
    format!("{}{parts}{}{name}{user}{session:?}", stock.parts, *limit)
}

fn main() {}
