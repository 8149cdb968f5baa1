//! Log notifications: only for requests that ask for them, and only from the level that they ask for.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{LOG_LEVEL, Local, Message};
use serde_json::{Value, json};

#[mcp_endpoint(path = "/mcp", name = "logging", version = "1.0.0")]
struct Logging;

#[mcp_endpoint]
impl Logging {
    /// Logs once at every level.
    #[mcp_tool]
    async fn chatter(log: Logger) -> String {
        let named = log.clone().named("stock");
        for level in LogLevel::ALL {
            named.log(level, level.as_str()).await;
        }
        log.enabled(LogLevel::Error).to_string()
    }

    #[mcp_resource(uri = "x://noisy")]
    async fn noisy(log: Logger) -> &'static str {
        log.warning(json!({ "shelf": 7 })).await;
        "text"
    }

    /// Reports and logs in turn.
    #[mcp_tool]
    async fn both(log: Logger, progress: Option<ProgressReporter>) -> Result<&'static str, ToolError> {
        progress.report(1).await?;
        log.info("between").await;
        progress.report(2).await?;
        Ok("done")
    }
}

fn server() -> Local {
    Local::new(McpServer::builder().endpoint(Logging))
}

fn chatter() -> Message {
    Message::call("chatter", json!({}))
}

/// What the notifications of a stream say, by their methods.
fn notifications(events: &[Value]) -> Vec<(&str, &Value)> {
    let notifications = events.iter().filter(|event| event.get("method").is_some());
    notifications.map(|event| (event["method"].as_str().unwrap_or_default(), &event["params"])).collect()
}

#[tokio::test]
async fn a_request_that_asks_for_none_gets_none() {
    let reply = server().send(&chatter()).await;
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.text(), "false");
}

#[tokio::test]
async fn messages_come_from_the_level_that_was_asked_for() {
    for (at, level) in LogLevel::ALL.iter().enumerate() {
        let events = server().send(&chatter().meta(LOG_LEVEL, level.as_str())).await.events();
        let expected: Vec<Value> = LogLevel::ALL[at..]
            .iter()
            .map(|level| json!({ "level": level, "logger": "stock", "data": level.as_str() }))
            .collect();
        let found = notifications(&events);
        assert!(found.iter().all(|(method, _)| *method == "notifications/message"), "{found:?}");
        assert!(found.into_iter().map(|(_, params)| params).eq(&expected), "{level}: {events:?}");
    }
}

#[tokio::test]
async fn a_level_above_what_is_logged_leaves_a_plain_answer() {
    let quiet = Message::read("x://noisy").meta(LOG_LEVEL, "error");
    assert_eq!(server().send(&quiet).await.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn any_operation_may_log_any_json() {
    let reply = server().send(&Message::read("x://noisy").meta(LOG_LEVEL, "debug")).await;
    let events = reply.events();
    let data = json!({ "level": "warning", "data": { "shelf": 7 } });
    assert_eq!(notifications(&events), [("notifications/message", &data)]);
    assert_eq!(reply.text(), "text");
}

#[tokio::test]
async fn an_unknown_level_is_refused() {
    for level in [json!("warn"), json!("Error"), json!(3), Value::Null] {
        let reply = server().send(&chatter().meta(LOG_LEVEL, level)).await;
        assert_eq!(reply.refusal(), (400, -32602));
    }
}

#[tokio::test]
async fn progress_and_messages_keep_their_order() {
    let both = Message::call("both", json!({})).progress_token("p").meta(LOG_LEVEL, "info");
    let reply = server().send(&both).await;
    let events = reply.events();
    let methods: Vec<&str> = notifications(&events).into_iter().map(|(method, _)| method).collect();
    assert_eq!(methods, ["notifications/progress", "notifications/message", "notifications/progress"]);
    assert_eq!(reply.text(), "done");
}

#[tokio::test]
async fn asking_for_messages_alone_gives_no_progress() {
    let both = Message::call("both", json!({})).meta(LOG_LEVEL, "info");
    let events = server().send(&both).await.events();
    let methods: Vec<&str> = notifications(&events).into_iter().map(|(method, _)| method).collect();
    assert_eq!(methods, ["notifications/message"]);
}
