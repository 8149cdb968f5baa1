//! Handlers that ask their client, in rounds.

mod building;
mod capabilities;
mod live;
mod protectors;
mod rounds;
mod state;
mod wire;

use mcp_runtime::{prelude::*, testing::Client};
use mcp_tests::endpoint;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize, JsonSchema, ElicitationForm)]
struct Consent {
    /// Go on?
    ok: bool,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema, ElicitationForm)]
#[serde(deny_unknown_fields)]
struct Guest {
    name: String,
    #[schemars(range(min = 1, max = 8))]
    seats: u8,
}

/// A server of one tool, for everybody.
fn builder(tool: Tool) -> ServerBuilder {
    McpServer::builder().endpoint(endpoint().tool(tool)).request_state_protector(keys("a", 1))
}

/// A ring of one key.
fn keys(id: &str, byte: u8) -> KeyRing {
    KeyRing::new(key(id, byte))
}

fn key(id: &str, byte: u8) -> StateKey {
    let mut master = [byte; 32];
    master[0] = 0;
    StateKey::new(id, master).expect("a key")
}

/// A client of a server of one tool.
fn client(tool: Tool) -> Client {
    Client::new(&builder(tool).build().unwrap_or_else(|error| panic!("{error}")))
}

/// A tool that asks for consent.
fn consenting() -> Tool {
    Tool::new("consent").handler(|ask: Ask| async move {
        match ask.elicit("confirm", "Go on?").await {
            Elicited::Accepted(Consent { ok }) => format!("ok: {ok}"),
            Elicited::Declined => "declined".to_owned(),
            Elicited::Cancelled => "cancelled".to_owned(),
        }
    })
}
