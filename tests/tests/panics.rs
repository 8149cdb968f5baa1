//! Panics in the application's code, wherever it is called: each costs one request, and tells its client nothing.

use std::time::Duration;

use mcp_runtime::{McpServer, RateLimit, RateLimited, prelude::*};
use mcp_tests::{Message, Served};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::json;

/// An argument that panics when it is read.
#[derive(JsonSchema)]
struct Trap;

impl<'de> Deserialize<'de> for Trap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        panic!("the password is hunter{number}")
    }
}

/// A result that panics when it is written.
#[derive(JsonSchema)]
struct Spite;

impl serde::Serialize for Spite {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("the password is hunter2")
    }
}

/// A value that panics when it is injected.
struct Needle;

impl FromInvocation for Needle {
    type Rejection = Rejection;

    async fn from_invocation(_: &Invocation) -> Result<Self, Rejection> {
        panic!("the password is hunter2")
    }
}

/// An admission and a limit that panic on demand.
struct Moody;

impl Admission for Moody {
    async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        assert!(request.headers().get("x-panic").is_none(), "the password is hunter2");
        Ok(Caller::anonymous())
    }
}

impl RateLimit for Moody {
    async fn check(&self, request: &RateLimited<'_>) -> Result<(), Duration> {
        assert!(request.tool != Some("limited"), "the password is hunter2");
        Ok(())
    }
}

#[mcp_endpoint(path = "/mcp", name = "panics", version = "1.0.0")]
struct Panics;

#[mcp_endpoint]
impl Panics {
    #[mcp_tool]
    async fn at_once() -> String {
        panic!("the password is hunter2")
    }

    #[mcp_tool]
    async fn with_a_value() -> String {
        std::panic::panic_any(17)
    }

    #[mcp_tool]
    async fn later() -> String {
        tokio::task::yield_now().await;
        panic!("the password is hunter2")
    }

    #[mcp_tool]
    fn blocking() -> String {
        panic!("the password is hunter2")
    }

    #[mcp_tool]
    async fn reading(trap: Trap) -> String {
        let Trap = trap;
        String::new()
    }

    #[mcp_tool]
    async fn writing() -> Json<Spite> {
        Json(Spite)
    }

    #[mcp_tool]
    async fn injecting(_needle: Needle) -> String {
        String::new()
    }

    #[mcp_tool]
    async fn limited() -> String {
        String::new()
    }

    #[mcp_tool]
    async fn fine() -> &'static str {
        "alive"
    }

    #[mcp_resource(uri = "x://resource")]
    async fn resource() -> String {
        panic!("the password is hunter2")
    }

    #[mcp_prompt]
    async fn prompt() -> String {
        panic!("the password is hunter2")
    }
}

#[tokio::test]
async fn a_panic_wherever_it_is_costs_one_request_and_tells_nothing() {
    let builder = McpServer::builder().endpoint(Panics).admission(Moody).tool_rate_limit(Moody);
    let served = Served::start(builder).await;
    let call = |tool| Message::call(tool, json!({}));
    for message in [
        call("at_once"),
        call("with_a_value"),
        call("later"),
        call("blocking"),
        Message::call("reading", json!({ "trap": 2 })),
        call("writing"),
        call("injecting"),
        call("limited"),
        call("fine").header("x-panic", "yes"),
        Message::read("x://resource"),
        Message::prompt("prompt", json!({})),
    ] {
        let mut connection = served.connect().await;
        connection.send(&message).await;
        let reply = connection.reply().await;
        assert_eq!(reply.refusal(), (500, -32603), "{message:?} {reply:?}");
        assert_eq!((&reply.json()["id"], &reply.error()["message"]), (&json!(1), &json!("internal error")));
        assert!(!format!("{reply:?}").contains("hunter2"));
        // The same connection goes on.
        connection.send(&call("fine")).await;
        assert_eq!(connection.reply().await.text(), "alive");
        assert_eq!(served.handle().running(), 0, "{message:?}");
    }
}
