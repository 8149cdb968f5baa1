//! Handlers that ask.

use mcp_runtime::{handler::Ask as Question, prelude::*};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema, ElicitationForm)]
struct Name {
    name: String,
    age: Option<u8>,
}

/// Asks for a name, by another name.
#[mcp_tool(asks(elicitation, sampling_tools), requires(roots))]
async fn greet(question: Question, _state: RequestState) -> String {
    match question.elicit("name", "Who?").await {
        Elicited::Accepted(Name { name, age: _ }) => name,
        Elicited::Declined | Elicited::Cancelled => "nobody".to_owned(),
    }
}

/// A prompt that asks.
#[mcp_prompt(asks(elicitation_url))]
async fn poem(ask: Ask) -> String {
    format!("{:?}", ask.elicit_url("login", "Please log in.", "https://example.com/").await)
}

/// A resource that asks.
#[mcp_resource(uri = "app://{id}", asks(sampling))]
async fn answer(id: String, ask: Ask) -> Text {
    Text(ask.sample(&id, Sampling::new(10).user("Well?")).await.text())
}

mod elsewhere {
    /// Found by its path.
    #[derive(serde::Deserialize, schemars::JsonSchema, mcp_runtime::ElicitationForm)]
    #[mcp(crate = mcp_runtime)]
    pub struct Consent {
        pub ok: bool,
    }
}

/// A form of another module.
#[mcp_tool]
async fn consent(ask: Ask) -> bool_text::Text {
    let answer = ask.elicit::<elsewhere::Consent>("consent", "Yes?").await;
    bool_text::Text::from(answer.accepted().is_some_and(|consent| consent.ok).to_string())
}

mod bool_text {
    pub type Text = String;
}

fn main() {
    let _ = (greet, poem, answer, consent);
    assert!(McpServer::from_annotations().build().is_ok());
}
