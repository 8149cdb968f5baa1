#![allow(unused_variables)]

use mcp_runtime::prelude::*;

struct Database;

#[mcp_tool]
async fn search(query: String, database: Database) -> String {
    query
}

fn main() {}
