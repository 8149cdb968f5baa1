//! What the tests of behaviour share: messages, replies, and two ways to a server.
//!
//! [`Message`] is one HTTP request that can be bent in any way. [`Local`] hands it to a server without a socket, where
//! time can be paused; [`Served`] serves over a real socket, which a [`Connection`] writes raw bytes to.

mod connection;
mod events;
mod local;
mod message;
mod probe;
mod reply;
mod served;

use std::{net::SocketAddr, time::Duration};

use mcp_runtime::{prelude::Endpoint, registry::BuildError, server::ServerBuilder};
use tokio::net::TcpStream;

pub use self::{
    connection::Connection,
    events::{Event, Events},
    local::{Local, Stream},
    message::{CAPABILITIES, CLIENT_INFO, LOG_LEVEL, Message, PROTOCOL_VERSION, REVISION},
    probe::Probe,
    reply::Reply,
    served::Served,
};

/// An endpoint at `/mcp`, to be filled.
#[must_use]
#[track_caller]
pub fn endpoint() -> Endpoint {
    Endpoint::builder("/mcp").name("tests").version("1.2.3")
}

/// What keeps a server from being built.
///
/// # Panics
/// If it can be.
#[must_use]
pub fn build_error(builder: ServerBuilder) -> BuildError {
    builder.build().expect_err("the server was built")
}

/// Seconds.
#[must_use]
pub const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Waits until nobody listens at an address any more.
///
/// # Panics
/// If somebody still does after a while.
pub async fn no_longer_listening(address: SocketAddr) {
    let wait = async { while TcpStream::connect(address).await.is_ok() {} };
    assert!(tokio::time::timeout(seconds(20), wait).await.is_ok(), "{address} is still open");
}

/// Waits until something is so; for what other tasks do in their own time.
///
/// # Panics
/// If it is not so within a while.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let soon = tokio::time::timeout(seconds(20), wait).await;
    soon.unwrap_or_else(|_| panic!("never: {what}"));
}

/// The tour of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
