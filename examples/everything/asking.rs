//! Tools and a prompt that ask their client: its user, its model, its roots.

use mcp_runtime::{handler::FormError, prelude::*};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Everything;

#[derive(Deserialize, JsonSchema, ElicitationForm)]
struct Name {
    /// Your name.
    name: String,
}

#[derive(Deserialize, JsonSchema, ElicitationForm)]
struct Consent {
    /// Whether to go on.
    ok: bool,
}

#[derive(Deserialize, JsonSchema, ElicitationForm)]
struct Colour {
    /// A colour that you like.
    color: String,
}

#[derive(Deserialize, JsonSchema, ElicitationForm)]
struct Topic {
    /// What the prompt is about.
    context: String,
}

/// Asks for a name. It keeps nothing from round to round: with a state of its own, which it never sets, an answer counts
/// whether it was asked for before or not.
#[mcp_tool(endpoint = Everything, asks(elicitation))]
async fn test_input_required_result_elicitation(ask: Ask, _stateless: RequestState) -> String {
    match ask.elicit("user_name", "What is your name?").await {
        Elicited::Accepted(Name { name }) => format!("Hello, {name}!"),
        Elicited::Declined | Elicited::Cancelled => "Hello, whoever you are!".to_owned(),
    }
}

/// Asks the client's model.
#[mcp_tool(endpoint = Everything, asks(sampling))]
async fn test_input_required_result_sampling(ask: Ask) -> String {
    ask.sample("capital", Sampling::new(100).user("What is the capital of France?")).await.text()
}

/// Asks for the client's roots.
#[mcp_tool(endpoint = Everything, asks(roots))]
async fn test_input_required_result_list_roots(ask: Ask) -> String {
    let roots = ask.roots("roots").await;
    format!("{} roots", roots.len())
}

/// Asks whether to go on, and remembers why it asked.
#[mcp_tool(endpoint = Everything, asks(elicitation))]
async fn test_input_required_result_request_state(ask: Ask) -> Result<String, ToolError> {
    ask.keep(&"a reason")?;
    let Elicited::Accepted(Consent { ok }) = ask.elicit("confirm", "Go on?").await else {
        return Ok("You did not say.".to_owned());
    };
    let reason: String = ask.kept().ok_or("nothing was kept")?;
    Ok(format!("ok: {ok}, kept: {reason}"))
}

/// Asks for three things at once.
#[mcp_tool(endpoint = Everything, asks(elicitation, sampling, roots))]
async fn test_input_required_result_multiple_inputs(ask: Ask) -> String {
    let (name, greeting, roots) = tokio::join!(
        ask.elicit::<Name>("name", "What is your name?"),
        ask.sample("greeting", Sampling::new(50).user("Greet somebody.")),
        ask.roots("roots"),
    );
    let name = name.accepted().map_or_else(|| "nobody".to_owned(), |Name { name }| name);
    format!("{} ({name}, {} roots)", greeting.text(), roots.len())
}

#[derive(Serialize, Deserialize)]
struct Asked {
    questions: u32,
}

/// Asks twice, one thing after the other.
#[mcp_tool(endpoint = Everything, asks(elicitation))]
async fn test_input_required_result_multi_round(ask: Ask) -> Result<String, ToolError> {
    ask.keep(&Asked { questions: ask.round() + 1 })?;
    let name = ask.elicit::<Name>("name", "What is your name?").await;
    let colour = ask.elicit::<Colour>("color", "Which colour do you like?").await;
    let (Elicited::Accepted(Name { name }), Elicited::Accepted(Colour { color })) = (name, colour) else {
        return Ok("You kept it to yourself.".to_owned());
    };
    Ok(format!("{name} likes {color}."))
}

/// Asks whether to go on; its state can't be changed on the way.
#[mcp_tool(endpoint = Everything, asks(elicitation))]
async fn test_input_required_result_tampered_state(ask: Ask) -> &'static str {
    match ask.elicit("confirm", "Go on?").await {
        Elicited::Accepted(Consent { ok: true }) => "We go on.",
        _ => "We stop.",
    }
}

/// Asks whatever the client can answer.
#[mcp_tool(endpoint = Everything, asks(sampling, elicitation))]
async fn test_input_required_result_capabilities(ask: Ask, context: RequestContext) -> String {
    if context.client_capabilities().sampling() {
        return ask.sample("model", Sampling::new(50).user("Say hello.")).await.text();
    }
    let name = ask.elicit::<Name>("name", "What is your name?").await;
    name.accepted().map_or_else(|| "nobody".to_owned(), |Name { name }| name)
}

/// A prompt about what its user says.
#[mcp_prompt(endpoint = Everything, asks(elicitation))]
async fn test_input_required_result_prompt(ask: Ask) -> Result<String, PromptError> {
    let topic = ask.elicit::<Topic>("topic", "What is it about?").await;
    let Topic { context } = topic.accepted().ok_or("nothing to write about")?;
    Ok(format!("Write a poem. Context: {context}"))
}

/// Asks, without sending a request of its own on the response.
#[mcp_tool(endpoint = Everything, asks(elicitation))]
async fn test_streaming_elicitation(ask: Ask) -> String {
    let name = ask.elicit::<Name>("name", "What is your name?").await;
    name.accepted().map_or_else(|| "Nobody answered.".to_owned(), |Name { name }| format!("Hello, {name}!"))
}

/// Asks the client's model.
#[mcp_tool(endpoint = Everything, asks(sampling))]
async fn test_sampling(
    /// What to ask it.
    prompt: String,
    ask: Ask,
) -> String {
    format!("LLM response: {}", ask.sample("prompt", Sampling::new(100).user(prompt)).await.text())
}

#[derive(Debug, Deserialize, JsonSchema, ElicitationForm)]
struct Account {
    /// A name to log in with.
    username: String,
    /// Where to write to.
    #[schemars(email)]
    email: String,
}

/// Asks the user for an account.
#[mcp_tool(endpoint = Everything, asks(elicitation))]
async fn test_elicitation(
    /// What to tell the user.
    message: String,
    ask: Ask,
) -> String {
    match ask.elicit("account", message).await {
        Elicited::Accepted(Account { username, email }) => format!("User response: {username} <{email}>"),
        Elicited::Declined => "The user declined.".to_owned(),
        Elicited::Cancelled => "The user closed the form.".to_owned(),
    }
}

#[derive(Debug, Deserialize, JsonSchema, ElicitationForm)]
#[serde(default)]
struct Defaults {
    name: String,
    age: u8,
    score: f64,
    status: Status,
    verified: bool,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { name: "John Doe".to_owned(), age: 30, score: 95.5, status: Status::Active, verified: true }
    }
}

/// Shows a form whose fields are filled in already.
#[mcp_tool(endpoint = Everything, asks(elicitation))]
async fn test_elicitation_sep1034_defaults(ask: Ask) -> String {
    let answer = ask.elicit::<Defaults>("details", "Please check your details.").await;
    format!("Elicitation completed: {answer:?}")
}

/// Shows a form with every kind of choice.
#[mcp_tool(endpoint = Everything, asks(elicitation))]
async fn test_elicitation_sep1330_enums(ask: Ask) -> Result<String, ToolError> {
    let form = choices()?;
    let answer = ask.elicit_form("choices", "Please choose.", &form).await;
    Ok(format!("Elicitation completed: {answer:?}"))
}

fn choices() -> Result<Form, FormError> {
    Form::from_schema(json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
            "titledSingle": {
                "type": "string",
                "oneOf": [
                    { "const": "value1", "title": "First" },
                    { "const": "value2", "title": "Second" },
                    { "const": "value3", "title": "Third" },
                ],
            },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["One", "Two", "Three"],
            },
            "untitledMulti": {
                "type": "array",
                "items": { "type": "string", "enum": ["option1", "option2", "option3"] },
            },
            "titledMulti": {
                "type": "array",
                "items": {
                    "anyOf": [
                        { "const": "value1", "title": "First" },
                        { "const": "value2", "title": "Second" },
                        { "const": "value3", "title": "Third" },
                    ],
                },
            },
        },
    }))
}
