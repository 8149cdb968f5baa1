use mcp_runtime::prelude::*;

type Maybe<T> = Option<T>;
type Name = Option<String>;

#[mcp_tool]
async fn search(query: Maybe<String>, limit: Maybe<u32>, #[mcp(default)] page: Maybe<u8>) -> String {
    format!("{query:?}{limit:?}{page:?}")
}

#[mcp_prompt]
async fn greet(name: Name, title: Maybe<String>) -> String {
    format!("{title:?}{name:?}")
}

fn main() {}
