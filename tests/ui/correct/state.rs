use mcp_runtime::prelude::*;

#[derive(Clone)]
struct Stock {
    parts: u32,
}

type Filter = dyn Fn(&str) -> bool + Send + Sync;

#[mcp_tool]
async fn filter(
    State(filter): State<std::sync::Arc<dyn Fn(&str) -> bool + Send + Sync>>,
    State(same): State<std::sync::Arc<Filter>>,
    State(plain): State<fn(std::borrow::Cow<'_, str>) -> bool>,
    text: String,
) -> String {
    (filter(&text) && same(&text) && plain(text.as_str().into())).to_string()
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
