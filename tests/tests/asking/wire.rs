//! The result that asks, and the retry.

use mcp_runtime::prelude::*;
use mcp_tests::{CAPABILITIES, Local, Message};
use serde_json::{Value, json};

use crate::{Guest, builder, consenting};

fn call(tool: &str) -> Message {
    let able = json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} });
    Message::call(tool, json!({})).meta(CAPABILITIES, able)
}

#[tokio::test(start_paused = true)]
async fn the_result_is_exactly_this() {
    let tool = Tool::new("all").handler(|ask: Ask| async move {
        let _ = tokio::join!(
            ask.elicit::<Guest>("guest \"1\"", "Who?"),
            ask.elicit_url("login", "Log in.", "https://example.com/login"),
            ask.sample("words", Sampling::new(10).user("Hi")),
            ask.roots("roots"),
        );
        "done"
    });
    let reply = Local::new(builder(tool)).send(&call("all")).await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    let mut result = reply.json()["result"].clone();
    let state = result.as_object_mut().unwrap().remove("requestState").unwrap();
    assert!(state.as_str().unwrap().len() > 100);
    assert_eq!(
        result,
        json!({
            "resultType": "input_required",
            "inputRequests": {
                "guest \"1\"": {
                    "method": "elicitation/create",
                    "params": {
                        "mode": "form",
                        "message": "Who?",
                        "requestedSchema": {
                            "type": "object",
                            "properties": {
                                "name": { "type": "string" },
                                "seats": { "type": "integer", "minimum": 1, "maximum": 8 },
                            },
                            "required": ["name", "seats"],
                        },
                    },
                },
                "login": {
                    "method": "elicitation/create",
                    "params": { "mode": "url", "message": "Log in.", "url": "https://example.com/login" },
                },
                "words": {
                    "method": "sampling/createMessage",
                    "params": {
                        "messages": [{ "role": "user", "content": { "type": "text", "text": "Hi" } }],
                        "maxTokens": 10,
                    },
                },
                "roots": { "method": "roots/list" },
            },
            "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "tests", "version": "1.2.3" } },
        })
    );
}

fn answer(first: &Value, answers: Value) -> Message {
    call("consent")
        .set("/id", 2)
        .set("/params/requestState", first["result"]["requestState"].clone())
        .set("/params/inputResponses", answers)
}

#[tokio::test(start_paused = true)]
async fn a_retry_with_the_state_and_the_answers_completes() {
    let local = Local::new(builder(consenting()));
    let first = local.send(&call("consent")).await.json();
    let accepted = json!({ "action": "accept", "content": { "ok": true } });
    let done =
        local.send(&answer(&first, json!({ "confirm": accepted, "unknown": { "action": "accept" } }))).await;
    assert_eq!(done.json()["result"]["content"][0]["text"], "ok: true");
    assert_eq!(done.json()["id"], 2);
    // Without an answer, or with one to something else, it is asked again; with another state.
    for answers in
        [json!({}), json!({ "wrong": accepted }), json!({ "confirm": null }), json!({ "confirm": [] })]
    {
        let again = local.send(&answer(&first, answers)).await.json();
        assert_eq!(again["result"]["resultType"], "input_required");
        assert!(again["result"]["inputRequests"]["confirm"].is_object());
        assert_ne!(again["result"]["requestState"], first["result"]["requestState"]);
    }
}

#[tokio::test(start_paused = true)]
async fn answers_that_nobody_asked_for_count_for_nothing() {
    let local = Local::new(builder(consenting()));
    let answers = json!({ "confirm": { "action": "accept", "content": { "ok": true } } });
    let reply = local.send(&call("consent").set("/params/inputResponses", answers)).await.json();
    assert_eq!(reply["result"]["resultType"], "input_required");
}

#[tokio::test(start_paused = true)]
async fn members_of_the_wrong_type_are_told_together() {
    let local = Local::new(builder(consenting()));
    let wrong = call("consent").set("/params/inputResponses", Value::Null).set("/params/requestState", 5);
    let reply = local.send(&wrong).await;
    assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (400, json!(-32602)));
    let faults = reply.json()["error"]["data"]["faults"].as_array().unwrap().len();
    assert_eq!(faults, 2);
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_never_asks_ignores_both() {
    let local = Local::new(builder(Tool::new("plain").handler(|| async { "done" })));
    let odd = call("plain").set("/params/inputResponses", 5).set("/params/requestState", "forged");
    assert_eq!(local.send(&odd).await.json()["result"]["content"][0]["text"], "done");
}

#[tokio::test(start_paused = true)]
async fn faults_of_the_arguments_come_before_those_of_the_state() {
    let tool = Tool::new("typed").handler(|Args(guest): Args<Guest>, ask: Ask| async move {
        format!("{guest:?} {:?}", ask.elicit::<Guest>("guest", "Who?").await)
    });
    let local = Local::new(builder(tool));
    let both =
        call("typed").set("/params/arguments", json!({ "name": 5 })).set("/params/requestState", "forged");
    let reply = local.send(&both).await.json();
    assert_eq!(reply["result"]["isError"], true);
}
