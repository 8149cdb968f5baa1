//! What is wrong with asking, and found when the server is built.

use mcp_runtime::prelude::*;
use mcp_tests::{build_error, endpoint};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{builder, consenting, keys};

fn faults(endpoint: Endpoint) -> Vec<String> {
    let error = build_error(McpServer::builder().endpoint(endpoint));
    error.faults().iter().map(|fault| fault.message.clone()).collect()
}

#[test]
fn only_tools_resources_and_prompts_ask() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Value {
        value: String,
    }
    let completion = CompletionSource::prompt("greet", "who")
        .handler(async |_: Args<Value>, ask: Ask| vec![format!("{:?}", ask.roots("roots").await)]);
    let list = ResourceList::new().handler(|ask: Ask| async move {
        ask.roots("roots").await;
        Vec::<ResourceEntry>::new()
    });
    let prompt = Prompt::new("greet").argument(PromptArgument::optional("who")).handler(|| async { "hello" });
    let found = faults(endpoint().prompt(prompt).completion(completion).resource_list(list));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found.iter().all(|fault| fault.contains("only tools, resources and prompts may ask")),
        "{found:?}"
    );
}

#[test]
fn what_is_declared_and_what_is_taken_agree() {
    let forms = Capabilities { elicitation: true, ..Capabilities::NONE };
    let silent = Tool::new("silent").asks(forms).handler(|| async { "done" });
    let stateful =
        Tool::new("stateful").handler(|state: RequestState| async move { format!("{:?}", state.get()) });
    let found = faults(endpoint().tool(silent).tool(stateful));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("takes no `Ask`"), "{found:?}");
    assert!(found[1].contains("takes `RequestState` and asks nothing"), "{found:?}");
}

#[test]
fn whoever_is_reached_by_others_needs_a_key() {
    let server = |tool| McpServer::builder().endpoint(endpoint().tool(tool));
    let exposed = || server(consenting()).admission(anonymous()).allowed_hosts(["mcp.example.com"]);
    let error = exposed().into_router().unwrap_err();
    assert_eq!(error.faults().len(), 1, "{error}");
    assert!(error.to_string().contains("request_state_protector(KeyRing::new("), "{error}");
    assert!(exposed().request_state_protector(keys("2026-12", 1)).into_router().is_ok());
    // Nobody needs one who asks nothing, or keeps the state.
    let silent = server(Tool::new("a").handler(|| async { "done" }));
    assert!(silent.admission(anonymous()).allowed_hosts(["a"]).into_router().is_ok());
    let own = Tool::new("own").handler(|ask: Ask, _: RequestState| async move { format!("{ask:?}") });
    assert!(server(own).admission(anonymous()).allowed_hosts(["a"]).into_router().is_ok());
}

#[test]
fn a_form_that_cannot_be_shown_is_told_with_its_place() {
    // Derived forms are checked for the whole program: here the form itself is asked for.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Nested {
        inner: Vec<Vec<u8>>,
    }
    let error = Form::of::<Nested>().unwrap_err();
    assert_eq!(error.to_string(), "`inner`: is a list of more than choices among texts, which no form shows");
}

#[test]
fn an_error_looks_the_same_whoever_prints_it() {
    let error = McpServer::builder().endpoint(endpoint().tool(consenting())).into_router().unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[test]
fn bounds_that_allow_nothing_are_refused() {
    let error = build_error(
        builder(consenting())
            .max_input_rounds(0)
            .max_request_state_bytes(0)
            .request_state_lifetime(std::time::Duration::ZERO),
    );
    assert_eq!(error.faults().len(), 3, "{error}");
}
