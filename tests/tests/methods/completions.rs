//! `completion/complete`: suggestions, at most 100 of them.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Local, Message};
use serde_json::{Value, json};

use super::{plain, result};

#[mcp_endpoint(path = "/mcp", name = "completions", version = "1.0.0")]
struct Completions;

#[mcp_endpoint]
impl Completions {
    #[mcp_prompt]
    async fn review(language: String, framework: Option<String>) -> String {
        format!("{language} {framework:?}")
    }

    #[mcp_completion(prompt = "review", argument = "language")]
    async fn languages(value: String) -> Vec<&'static str> {
        let known = ["python", "perl", "rust"].into_iter();
        known.filter(|name| name.starts_with(&value)).collect()
    }

    #[mcp_completion(prompt = "review", argument = "framework")]
    async fn frameworks(framework: String, language: Option<String>) -> Completion {
        let language = language.as_deref().unwrap_or("any");
        let mut completion = Completion::from_iter([format!("{language}-{framework}")]);
        completion.total = Some(12);
        completion.has_more = Some(true);
        completion
    }

    #[mcp_resource(uri = "x://{year}/{page}")]
    async fn page(year: u16, page: String) -> String {
        format!("{year} {page}")
    }

    #[mcp_completion(resource = "x://{year}/{page}", argument = "year")]
    async fn years() -> Vec<String> {
        (1900..2150).map(|year| year.to_string()).collect()
    }

    #[mcp_completion(resource = "x://{year}/{page}", argument = "page")]
    async fn pages(year: Option<String>) -> Result<Vec<String>, CompletionError> {
        match year {
            Some(year) => Ok(vec![format!("{year}-a")]),
            None => Err("choose a year first".into()),
        }
    }
}

fn server() -> Local {
    Local::new(McpServer::builder().endpoint(Completions))
}

fn prompt() -> Value {
    json!({ "type": "ref/prompt", "name": "review" })
}

fn template() -> Value {
    json!({ "type": "ref/resource", "uri": "x://{year}/{page}" })
}

async fn complete(message: Message) -> Value {
    plain(result(&server(), message).await)["completion"].take()
}

#[tokio::test]
async fn what_was_typed_decides() {
    let suggestions = complete(Message::complete(prompt(), "language", "p")).await;
    assert_eq!(suggestions, json!({ "values": ["python", "perl"] }));
    let suggestions = complete(Message::complete(prompt(), "language", "x")).await;
    assert_eq!(suggestions, json!({ "values": [] }));
}

#[tokio::test]
async fn arguments_that_were_chosen_already_are_known() {
    let chosen = json!({ "arguments": { "language": "python", "framework": "ignored" } });
    let message = Message::complete(prompt(), "framework", "fla").set("/params/context", chosen);
    let expected = json!({ "values": ["python-fla"], "total": 12, "hasMore": true });
    assert_eq!(complete(message.clone()).await, expected);
    assert_eq!(complete(message.unset("/params/context")).await["values"], json!(["any-fla"]));
}

#[tokio::test]
async fn no_more_than_a_hundred_are_sent_and_the_rest_is_counted() {
    let suggestions = complete(Message::complete(template(), "year", "")).await;
    let values = suggestions["values"].as_array().unwrap();
    assert_eq!((values.len(), &values[0], &values[99]), (100, &json!("1900"), &json!("1999")));
    assert_eq!((&suggestions["total"], &suggestions["hasMore"]), (&json!(250), &json!(true)));
}

#[tokio::test]
async fn variables_of_a_template_are_completed_like_arguments() {
    let chosen = json!({ "arguments": { "year": "1999" } });
    let message = Message::complete(template(), "page", "").set("/params/context", chosen);
    assert_eq!(complete(message.clone()).await["values"], json!(["1999-a"]));
    let reply = server().send(&message.unset("/params/context")).await;
    assert_eq!(reply.refusal(), (200, -32603));
    assert_eq!(reply.error()["message"], "choose a year first");
}

#[tokio::test]
async fn an_argument_that_nobody_completes_has_no_suggestions() {
    let message = Message::complete(prompt(), "nothing", "x");
    assert_eq!(complete(message).await, json!({ "values": [] }));
}

#[tokio::test]
async fn a_uri_that_a_template_matches_stands_for_the_template() {
    let page = json!({ "type": "ref/resource", "uri": "x://1999/a" });
    let suggestions = complete(Message::complete(page, "year", "")).await;
    assert_eq!(suggestions["total"], 250);
}

#[tokio::test]
async fn chosen_arguments_are_strings() {
    let chosen = json!({ "arguments": { "language": 7 } });
    let message = Message::complete(prompt(), "framework", "").set("/params/context", chosen);
    let reply = server().send(&message).await;
    assert_eq!((reply.refusal(), reply.faults()), ((200, -32602), vec!["language".to_owned()]));
}
