//! The revisions of 2025, which begin with `initialize`, served without sessions.

mod disconnects;
mod endpoints;
mod errors;
mod handshake;
mod methods;
mod shapes;
mod stdio;

use mcp_runtime::{McpServer, prelude::*, protocol::Icon, server::ServerBuilder};
use mcp_tests::{Message, Probe, Reply, Served, endpoint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const JUNE: &str = "2025-06-18";
const NOVEMBER: &str = "2025-11-25";
const BOTH: [&str; 2] = [JUNE, NOVEMBER];

#[derive(Serialize, JsonSchema)]
struct Said {
    text: String,
    loud: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

/// What a handler knows of its client.
#[derive(Serialize, JsonSchema)]
struct Who {
    revision: String,
    client: Option<String>,
    roots: bool,
}

impl From<RequestContext> for Who {
    fn from(context: RequestContext) -> Self {
        let client = context.client_info().map(|info| info.name.clone());
        let roots = context.client_capabilities().roots();
        Self { revision: context.revision().to_string(), client, roots }
    }
}

/// One of each.
#[mcp_endpoint(
    path = "/mcp",
    name = "legacy",
    version = "1.2.3",
    title = "Legacy",
    website_url = "https://example.com/",
    description = "Tests.",
    instructions = "Ask.",
    icons("https://example.com/i.png")
)]
struct Everything;

#[mcp_endpoint]
impl Everything {
    #[mcp_tool(title = "Echo", icons("https://example.com/i.png"))]
    async fn echo(text: String) -> String {
        text
    }

    /// Its structured content is an object.
    #[mcp_tool]
    async fn say(text: String) -> Json<Said> {
        Json(Said { text, loud: false })
    }

    /// Its structured content is none.
    #[mcp_tool]
    async fn list() -> Json<Vec<u32>> {
        Json(vec![1, 2])
    }

    /// Reports three times, and logs.
    #[mcp_tool]
    async fn work(progress: Option<ProgressReporter>, logger: Logger) -> Result<&'static str, ToolError> {
        for done in 1..=3 {
            progress.report(Progress::new(done).total(3)).await?;
            logger.error("said").await;
        }
        Ok("worked")
    }

    #[mcp_tool]
    async fn link() -> ToolResult {
        let mut link = ResourceLink::new("legacy://about", "about");
        link.icons.push(Icon::new("https://example.com/i.png"));
        ToolResult::new().with_content(Content::link(link)).with_meta("example/extra", 1)
    }

    #[mcp_tool]
    async fn ship(#[mcp(header = "Region")] region: Option<String>, anything: Value) -> String {
        format!("{region:?} {anything}")
    }

    #[mcp_tool(requires(sampling))]
    async fn demanding() -> &'static str {
        "satisfied"
    }

    #[mcp_tool]
    async fn panics() -> &'static str {
        panic!("on purpose")
    }

    #[mcp_tool]
    async fn who(context: RequestContext) -> Json<Who> {
        Json(context.into())
    }

    #[mcp_resource(uri = "legacy://about", mime_type = "text/plain", ttl = "1m", scope = "public")]
    async fn about() -> &'static str {
        "about"
    }

    #[mcp_resource(uri = "legacy://items/{id}")]
    async fn item(id: String) -> Option<String> {
        (id != "0").then(|| format!("item {id}"))
    }

    #[mcp_prompt]
    async fn greet(name: String) -> String {
        format!("Hello {name}")
    }

    #[mcp_completion(prompt = "greet", argument = "name")]
    async fn names() -> Vec<&'static str> {
        vec!["Ada"]
    }
}

/// A tool that reports once, and ends when it is permitted to.
fn led() -> Tool {
    let handler =
        async |progress: Option<ProgressReporter>, token: CancellationToken, State(probe): State<Probe>| {
            token
                .on_cancel({
                    let probe = probe.clone();
                    move |reason| probe.note(format!("{reason:?}"))
                })
                .detach();
            let _ = progress.report(1).await;
            probe.note("started");
            probe.permitted().await;
            let reported = progress.report(2).await;
            probe.note(format!("ended: {reported:?}"));
            "led"
        };
    Tool::new("led").handler(handler)
}

fn everything() -> ServerBuilder {
    McpServer::builder().endpoint(Everything)
}

fn only(revisions: impl IntoIterator<Item = Revision>) -> ServerBuilder {
    let echo = Tool::new("echo").handler(async |Args(Text { text }): Args<Text>| text);
    McpServer::builder().endpoint(endpoint().revisions(revisions).tool(echo))
}

/// A request of an older revision, as its clients send it.
fn request(revision: &str, method: &str, params: Value) -> Message {
    Message::request(method)
        .set("/params", params)
        .header("mcp-protocol-version", revision)
        .without("mcp-method")
}

fn call(revision: &str, tool: &str, arguments: Value) -> Message {
    request(revision, "tools/call", json!({ "name": tool })).set("/params/arguments", arguments)
}

fn introduction(proposed: &str) -> Value {
    let info = json!({ "name": "old", "version": "1" });
    json!({ "protocolVersion": proposed, "capabilities": { "roots": {} }, "clientInfo": info })
}

/// `initialize`, which comes without the header.
fn initialize(proposed: &str) -> Message {
    request("", "initialize", introduction(proposed)).without("mcp-protocol-version")
}

/// Asserts that a message has nothing that came later than a revision.
fn assert_of(revision: &str, value: &Value) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let later = ["resultType", "ttlMs", "cacheScope", "x-mcp-header", "supportedVersions"];
                assert!(!later.contains(&key.as_str()), "`{key}` in {value}");
                assert!(!key.starts_with("io.modelcontextprotocol/"), "`{key}` in {value}");
                assert!(revision != JUNE || key != "icons", "`{key}` in {value}");
                assert_of(revision, member);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| assert_of(revision, value)),
        _ => {}
    }
}

/// The result of an answer that has nothing that came later.
fn result(revision: &str, reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(reply.header("mcp-session-id"), None);
    assert_of(revision, &reply.answer());
    reply.result()
}

async fn ask(served: &Served, revision: &str, method: &str, params: Value) -> Value {
    result(revision, &served.send(&request(revision, method, params)).await)
}
