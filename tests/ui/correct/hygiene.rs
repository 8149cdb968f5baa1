#![allow(dead_code, non_camel_case_types)]

use ::mcp_runtime::prelude::{CancellationToken, mcp_endpoint, mcp_resource, mcp_tool};

type Text = ::std::string::String;

// What the expansions use is shadowed here.
struct Option;
struct Result;
struct Box;
struct String;
struct Send;
struct Clone;
struct Default;
#[allow(non_snake_case)]
fn Some() {}
#[allow(non_snake_case)]
fn None() {}
mod core {}
mod std {}
mod mcp_runtime {}

const R: usize = 2;
const P0: usize = 3;

#[mcp_tool]
async fn arguments(p0: Text, p1: [u8; R], #[mcp(default = P0)] invocation: usize) -> Text {
    ::std::format!("{p0}{p1:?}{invocation}")
}

#[mcp_tool]
fn invocation(output: Text) -> Text {
    output
}

#[mcp_tool]
async fn start(token: CancellationToken) -> Text {
    drop(token);
    Text::new()
}

#[mcp_resource(uri = "catalog://parts/{this}")]
fn output(this: Text) -> Text {
    this
}

#[mcp_tool]
async fn p0(p0: Text) -> Text {
    p0
}

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[mcp_endpoint]
impl Catalog {
    #[mcp_tool]
    async fn this(&self, instance: Text) -> Text {
        instance
    }

    #[mcp_tool]
    fn instance(&self, this: Text) -> Text {
        this
    }
}

fn main() {}
