//! A server that offers everything once: each kind of content, resource, prompt and failure. Clients are tested
//! against it, and so is the framework.
//!
//! `cargo run --example everything -- --port 8081`; port 0 picks a free one. The first line on stdout is the address.

mod asking;
mod content;
mod extras;
mod prompts;
mod resources;
mod subscriptions;
mod tools;

use std::{error::Error, time::Duration};

use mcp_runtime::{prelude::*, subscription::allow_all};
use tokio::net::TcpListener;

// Operations are listed by file and line: the first tool is the first in `content.rs`.

/// One of each.
#[mcp_endpoint(
    path = "/mcp",
    name = "everything",
    version = "1.0.0",
    title = "Everything",
    changes(tools, prompts, resources, updates)
)]
struct Everything;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", port()?)).await?;
    println!("{}", listener.local_addr()?);
    McpServer::from_annotations()
        .state(extras::Cancellations::default())
        .admission(anonymous())
        .subscription_authorizer(allow_all())
        .graceful_shutdown(Duration::from_secs(5))
        .forced_shutdown(Duration::from_secs(2))
        .serve_with(listener)
        .await?;
    Ok(())
}

/// The port in `--port N`; without it, a free one.
fn port() -> Result<u16, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (None, ..) => Ok(0),
        (Some("--port"), Some(port), None) => Ok(port.parse()?),
        _ => Err("usage: everything [--port N]".into()),
    }
}
