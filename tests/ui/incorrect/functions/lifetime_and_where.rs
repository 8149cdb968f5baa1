use mcp_runtime::prelude::*;

#[mcp_tool]
async fn search<'a>(query: std::borrow::Cow<'a, str>) -> String
where
    String: Sized,
{
    query.into_owned()
}

fn main() {}
