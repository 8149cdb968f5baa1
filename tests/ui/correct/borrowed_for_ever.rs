use mcp_runtime::prelude::*;

use std::borrow::Cow;

#[derive(Clone)]
struct Config;

static CONFIG: Config = Config;

#[mcp_tool]
async fn search(query: Cow<'_, str>, State(config): State<&'static Config>, name: Option<Cow<'static, str>>) -> Cow<'static, str> {
    let _ = (config, &CONFIG, name);
    Cow::Owned(query.into_owned())
}

fn main() {}
