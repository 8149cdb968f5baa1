//! Subscriptions: who hears of what and when, and how it ends.

mod building;
mod ends;
mod fences;
mod filters;
mod guard;
mod limits;
mod permission;
mod renewals;
mod shutdown;
mod stalls;
#[cfg(unix)]
mod stdio;
mod telling;
mod watching;
mod wire;

use mcp_runtime::{
    McpServer,
    prelude::*,
    server::ServerBuilder,
    subscription::allow_all,
    testing::{Client, Heard, Listening, RpcError},
};
use mcp_tests::seconds;
use tokio::time::timeout;

use self::guard::{Guard, Named, Trusting};

#[mcp_endpoint(
    path = "/mcp",
    name = "changing",
    version = "1.0.0",
    changes(tools, prompts, resources, updates)
)]
struct Changing;

#[mcp_endpoint]
impl Changing {
    /// Says that a resource has changed.
    #[mcp_tool]
    async fn touch(uri: String, publisher: Publisher) -> Result<&'static str, ToolError> {
        publisher.resource_updated(&uri)?;
        Ok("told")
    }

    #[mcp_prompt]
    async fn greet() -> &'static str {
        "hello"
    }

    #[mcp_resource(uri = "note://{id}")]
    async fn note(id: String) -> String {
        id
    }

    #[mcp_resource(uri = "file:///fixed.txt")]
    async fn fixed() -> &'static str {
        "fixed"
    }
}

fn builder() -> ServerBuilder {
    McpServer::builder().endpoint(Changing)
}

/// A server for everybody, in the process.
fn open_server() -> (McpServer, Client) {
    built(builder().subscription_authorizer(allow_all()))
}

fn built(builder: ServerBuilder) -> (McpServer, Client) {
    let server = builder.build().unwrap_or_else(|error| panic!("{error}"));
    let client = Client::new(&server);
    (server, client)
}

/// A server whose permissions a test leads.
fn guarded(change: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (McpServer, Client, Guard) {
    let guard = Guard::new();
    let builder = builder().subscription_authorizer(guard.clone()).admission(Trusting);
    let (server, client) = built(change(builder));
    (server, client, guard)
}

/// A client with an identity.
fn named(client: &Client, name: &'static str) -> Client {
    client.clone().extension(Named(name))
}

/// Listens to one resource.
async fn listening(client: &Client, uri: &str) -> Listening {
    client.listen().resource(uri).await.unwrap_or_else(|error| panic!("{error}"))
}

/// The next change, which must be there already.
async fn heard(listening: &mut Listening) -> Heard {
    let next = timeout(std::time::Duration::ZERO, listening.next()).await;
    next.expect("nothing was told").expect("the stream has ended")
}

/// Nothing is told for a second.
async fn assert_silent(listening: &mut Listening) {
    let next = timeout(seconds(1), listening.next()).await;
    assert!(next.is_err(), "told: {next:?}");
}

/// The stream ends now, with a result and nothing before it.
async fn assert_over(listening: &mut Listening) {
    assert_eq!(timeout(std::time::Duration::ZERO, listening.next()).await, Ok(None), "{listening:?}");
    assert!(listening.result().is_some(), "it ended without a result: {listening:?}");
    assert_eq!(listening.next().await, None);
}

fn refused<T: std::fmt::Debug>(opened: Result<T, RpcError>) -> i64 {
    opened.expect_err("the stream was opened").code
}
