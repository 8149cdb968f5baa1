//! `prompts/get`: arguments in, messages back.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Local, Message, endpoint};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{plain, result, serving};

#[mcp_endpoint(path = "/mcp", name = "prompts", version = "1.0.0")]
struct Prompts;

#[mcp_endpoint]
impl Prompts {
    #[mcp_prompt]
    async fn text(topic: String, style: Option<String>) -> String {
        format!("Write about {topic}, {}.", style.as_deref().unwrap_or("plainly"))
    }

    #[mcp_prompt]
    async fn dialogue() -> Vec<PromptMessage> {
        vec![PromptMessage::user("How much?"), PromptMessage::assistant(Content::image([1], "image/png"))]
    }

    #[mcp_prompt]
    fn described() -> PromptResult {
        PromptResult::new([PromptMessage::assistant("I see.")]).with_description("A short one")
    }
}

async fn get(prompt: &str, arguments: Value) -> Value {
    let local = Local::new(McpServer::builder().endpoint(Prompts));
    plain(result(&local, Message::prompt(prompt, arguments)).await)
}

fn said(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": { "type": "text", "text": text } })
}

#[tokio::test]
async fn text_is_one_message_of_the_user() {
    let messages = [said("user", "Write about rain, plainly.")];
    assert_eq!(get("text", json!({ "topic": "rain" })).await, json!({ "messages": messages }));
    let messages = [said("user", "Write about rain, darkly.")];
    let styled = get("text", json!({ "topic": "rain", "style": "darkly" })).await;
    assert_eq!(styled, json!({ "messages": messages }));
}

#[tokio::test]
async fn messages_keep_their_roles_and_their_content() {
    let image = json!({ "type": "image", "data": "AQ==", "mimeType": "image/png" });
    let messages = [said("user", "How much?"), json!({ "role": "assistant", "content": image })];
    assert_eq!(get("dialogue", json!({})).await, json!({ "messages": messages }));
}

#[tokio::test]
async fn a_result_may_describe_itself() {
    let messages = [said("assistant", "I see.")];
    let expected = json!({ "description": "A short one", "messages": messages });
    assert_eq!(get("described", json!({})).await, expected);
}

#[tokio::test]
async fn a_prompt_by_hand_takes_its_arguments_as_strings() {
    #[derive(Deserialize, JsonSchema)]
    struct Who {
        name: String,
        title: Option<String>,
    }
    let prompt = Prompt::new("greet")
        .argument(PromptArgument::required("name").description("Who it is."))
        .argument(PromptArgument::optional("title"))
        .handler(async |Args(Who { name, title }): Args<Who>| {
            format!("{} {name}", title.unwrap_or_default())
        });
    let local = serving(endpoint().prompt(prompt));
    let greeted = result(&local, Message::prompt("greet", json!({ "name": "Ada", "title": "Lady" }))).await;
    assert_eq!(greeted["messages"], json!([said("user", "Lady Ada")]));
    let reply = local.send(&Message::prompt("greet", json!({ "title": "Lady" }))).await;
    assert_eq!(reply.refusal(), (200, -32602));
}
