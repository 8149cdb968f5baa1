//! `server/discover`: what a server says of itself, and no more than it serves.

use mcp_runtime::{prelude::*, protocol::Icon};
use mcp_tests::{Local, Message, endpoint, seconds};
use serde_json::{Value, json};

use super::{result, serving};

async fn discovered(local: &Local) -> Value {
    result(local, Message::request("server/discover")).await
}

fn tool() -> Tool {
    Tool::new("tool").handler(async || "done")
}

fn resource() -> Resource {
    Resource::new("x://resource", "resource").handler(async || "text")
}

fn prompt() -> Prompt {
    Prompt::new("prompt").argument(PromptArgument::optional("name")).handler(async || "say")
}

#[tokio::test]
async fn a_server_says_who_it_is_and_which_revisions_it_speaks() {
    let mut icon = Icon::new("https://example.com/icon.png");
    icon.sizes = vec!["48x48".to_owned()];
    let local = serving(
        endpoint()
            .title("The tests")
            .description("Tests.")
            .website_url("https://example.com/")
            .instructions("Call a \"tool\".")
            .icon(icon)
            .tool(tool()),
    );
    let result = discovered(&local).await;
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["supportedVersions"], json!(["2026-07-28", "2025-11-25", "2025-06-18"]));
    assert_eq!(result["instructions"], "Call a \"tool\".");
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"],
        json!({
            "name": "tests",
            "version": "1.2.3",
            "title": "The tests",
            "description": "Tests.",
            "websiteUrl": "https://example.com/",
            "icons": [{ "src": "https://example.com/icon.png", "sizes": ["48x48"] }],
        })
    );
}

#[tokio::test]
async fn only_what_is_served_is_a_capability() {
    let list = || ResourceList::new().handler(async || Vec::<ResourceEntry>::new());
    let logging = || Tool::new("logging").handler(async |_: Logger| "done");
    let completion = || CompletionSource::prompt("prompt", "name").handler(async || vec!["Ada"]);
    for (endpoint, capabilities) in [
        (endpoint().tool(tool()), json!({ "tools": {} })),
        (endpoint().resource(resource()), json!({ "resources": {} })),
        (endpoint().resource_list(list()), json!({ "resources": {} })),
        (endpoint().prompt(prompt()), json!({ "prompts": {} })),
        (endpoint().prompt(prompt()).completion(completion()), json!({ "prompts": {}, "completions": {} })),
        (endpoint().tool(logging()), json!({ "tools": {}, "logging": {} })),
        (
            endpoint()
                .tool(tool())
                .tool(logging())
                .resource(resource())
                .prompt(prompt())
                .completion(completion()),
            json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {} }),
        ),
    ] {
        assert_eq!(discovered(&serving(endpoint)).await["capabilities"], capabilities);
    }
}

#[tokio::test]
async fn no_more_is_said_than_there_is() {
    let result = discovered(&serving(endpoint().tool(tool()))).await;
    assert_eq!(result.get("instructions"), None);
    let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(*info, json!({ "name": "tests", "version": "1.2.3" }));
}

#[tokio::test]
async fn discovery_and_lists_carry_the_hints_of_their_endpoint() {
    let hint = CacheHint { ttl: seconds(300), scope: CacheScope::Public };
    let everything = || endpoint().tool(tool()).resource(resource()).prompt(prompt());
    for (endpoint, ttl, scope) in
        [(everything(), 0, "private"), (everything().cache(hint), 300_000, "public")]
    {
        let local = serving(endpoint);
        for method in
            ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"]
        {
            let result = result(&local, Message::request(method)).await;
            assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(ttl), &json!(scope)), "{method}");
        }
    }
}

#[tokio::test]
async fn every_result_says_which_server_it_is_from() {
    let local = serving(
        endpoint()
            .title("Only discovery says this")
            .tool(tool())
            .resource(resource())
            .prompt(prompt())
            .completion(CompletionSource::prompt("prompt", "name").handler(async || vec!["Ada"])),
    );
    for message in [
        Message::request("tools/list"),
        Message::request("resources/list"),
        Message::call("tool", json!({})),
        Message::read("x://resource"),
        Message::prompt("prompt", json!({})),
        Message::complete(json!({ "type": "ref/prompt", "name": "prompt" }), "name", ""),
        Message::complete(json!({ "type": "ref/prompt", "name": "prompt" }), "other", ""),
    ] {
        let result = result(&local, message).await;
        assert_eq!(result["resultType"], "complete");
        let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(*info, json!({ "name": "tests", "version": "1.2.3" }), "{result}");
    }
}

#[tokio::test]
async fn parameters_of_discovery_are_the_metadata_alone() {
    let local = serving(endpoint().tool(tool()));
    let message = Message::request("server/discover").set("/params/cursor", "ignored");
    assert_eq!(local.send(&message).await.status, 200);
}
