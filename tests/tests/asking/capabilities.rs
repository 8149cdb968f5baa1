//! What a client must be able to do to be asked.

use mcp_runtime::{prelude::*, protocol::SamplingTool};
use mcp_tests::{CAPABILITIES, Local, Message, endpoint};
use serde_json::{Value, json};

use crate::{Consent, builder, client};

const FORMS: Capabilities = Capabilities { elicitation: true, ..Capabilities::NONE };

/// The capabilities that a call of a client with `declared` is refused for.
async fn refused(tool: Tool, declared: Value) -> Value {
    let name = "asks";
    let local = Local::new(builder(tool));
    let message = Message::call(name, json!({})).meta(CAPABILITIES, declared);
    let reply = local.send(&message).await;
    assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (400, json!(-32021)));
    reply.json()["error"]["data"]["requiredCapabilities"].clone()
}

fn asks(capabilities: Capabilities) -> Tool {
    Tool::new("asks").asks(capabilities).handler(|ask: Ask, progress: Option<ProgressReporter>| async move {
        progress.report(1).await?;
        tokio::task::yield_now().await;
        Ok::<_, ToolError>(format!("{:?}", ask.elicit::<Consent>("confirm", "Go on?").await))
    })
}

#[tokio::test(start_paused = true)]
async fn all_that_is_missing_is_told_at_once() {
    let tool = Tool::new("asks").handler(|ask: Ask| async move {
        let question = Sampling::new(1).user("?").tool(SamplingTool {
            name: "t".to_owned(),
            description: None,
            input_schema: json!({ "type": "object" }),
        });
        let _ = tokio::join!(
            ask.elicit::<Consent>("a", "?"),
            ask.elicit_url("b", "?", "https://example.com/"),
            ask.sample("c", question),
            ask.roots("d"),
        );
        "done"
    });
    assert_eq!(
        refused(tool.clone(), json!({})).await,
        json!({ "sampling": { "tools": {} }, "elicitation": { "form": {}, "url": {} }, "roots": {} })
    );
    let declared = json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {} });
    assert_eq!(
        refused(tool, declared).await,
        json!({ "sampling": { "tools": {} }, "elicitation": { "url": {} } })
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_required_is_checked_before_the_handler_runs() {
    let tool = Tool::new("asks")
        .requires(Capabilities { roots: true, ..FORMS })
        .handler(|| async { unreachable!("the client can't answer") as &str });
    assert_eq!(refused(tool, json!({ "sampling": {} })).await, json!({ "elicitation": {}, "roots": {} }));
    // `url` alone is no form.
    let tool = Tool::new("asks").requires(FORMS).handler(|| async { "done" });
    assert_eq!(refused(tool, json!({ "elicitation": { "url": {} } })).await, json!({ "elicitation": {} }));
}

#[tokio::test(start_paused = true)]
async fn the_error_can_be_sent_because_nothing_was() {
    let local = Local::new(builder(asks(FORMS)));
    let call = Message::call("asks", json!({})).progress_token("p");
    let reply = local.send(&call).await;
    assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (400, json!(-32021)));
    // A client that can answer has its progress.
    let able = call.meta(CAPABILITIES, json!({ "elicitation": {} }));
    let stream = local.open(&able).await.whole().await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
}

#[tokio::test(start_paused = true)]
async fn no_progress_is_kept_back_for_later() {
    let tool =
        Tool::new("maybe").asks(FORMS).handler(|ask: Ask, progress: Option<ProgressReporter>| async move {
            let reports = progress.is_some();
            drop(ask);
            format!("reports: {reports}")
        });
    let client = client(tool);
    let call = || client.call("maybe").with_progress();
    assert_eq!(call().await.unwrap().text(), "reports: false");
    let able = call().capabilities(json!({ "elicitation": {} })).await.unwrap();
    assert_eq!(able.text(), "reports: true");
}

#[tokio::test(start_paused = true)]
async fn an_undeclared_ask_after_progress_ends_the_stream() {
    let client = client(asks(Capabilities::NONE));
    let error = client.call("asks").with_progress().await.unwrap_err();
    assert_eq!(error.code, -32021);
    assert_eq!(error.data.unwrap()["requiredCapabilities"], json!({ "elicitation": {} }));
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_gets_by_without_asking_does() {
    let tool = Tool::new("polite").handler(|ask: Ask, context: RequestContext| async move {
        if context.client_capabilities().elicitation_form() {
            return format!("{:?}", ask.elicit::<Consent>("confirm", "Go on?").await);
        }
        "did what is harmless".to_owned()
    });
    let client = client(tool);
    assert_eq!(client.call("polite").await.unwrap().text(), "did what is harmless");
    assert_eq!(client.call("polite").decline("confirm").await.unwrap().text(), "Declined");
}

#[tokio::test(start_paused = true)]
async fn lists_never_ask() {
    let server = McpServer::builder().endpoint(endpoint().tool(asks(FORMS))).build().unwrap();
    let client = mcp_runtime::testing::Client::new(&server);
    let listed =
        client.request("tools/list", json!({ "inputResponses": {}, "requestState": "x" })).await.unwrap();
    assert_eq!(listed.result()["resultType"], "complete");
}

#[tokio::test(start_paused = true)]
async fn a_broken_rule_is_told_before_what_the_client_lacks() {
    for keys in [["", "b"], ["a", ""]] {
        let tool = Tool::new("asks").handler(move |ask: Ask| async move {
            let _ = tokio::join!(ask.elicit::<Consent>(keys[0], "?"), ask.roots(keys[1]));
            "done"
        });
        let message = Message::call("asks", json!({})).meta(CAPABILITIES, json!({}));
        let reply = Local::new(builder(tool)).send(&message).await;
        assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (500, json!(-32603)));
    }
}
