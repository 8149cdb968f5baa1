//! Names, paths and URIs: each belongs to one item.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Local, Message, endpoint};
use serde_json::json;

use super::{assert_fault, assert_one, faults, faults_of};

fn tool(name: &str) -> Tool {
    Tool::new(name).handler(async || "done")
}

fn resource(uri: &str) -> Resource {
    Resource::new(uri, uri).handler(async || "text")
}

fn prompt(name: &str) -> Prompt {
    Prompt::new(name).argument(PromptArgument::optional("topic")).handler(async || "say")
}

#[mcp_endpoint(path = "/doubled", name = "doubled", version = "1.0.0")]
struct Doubled;

#[mcp_tool(endpoint = Doubled, name = "same")]
async fn first() {}

#[mcp_tool(endpoint = Doubled, name = "same")]
async fn second() {}

#[test]
fn a_name_that_two_functions_have_is_told_with_both_places() {
    let faults = faults(McpServer::builder().endpoint(Doubled));
    assert_one(&faults, "second", &["the tool name `same` belongs to `first` (", "addresses.rs:", "name = "]);
}

#[test]
fn names_of_tools_and_prompts_are_apart() {
    assert_one(&faults_of(endpoint().tool(tool("a")).tool(tool("a"))), "a", &["tool name `a`"]);
    assert_one(&faults_of(endpoint().prompt(prompt("a")).prompt(prompt("a"))), "a", &["prompt name `a`"]);
    assert!(McpServer::builder().endpoint(endpoint().tool(tool("a")).prompt(prompt("a"))).build().is_ok());
}

#[test]
fn names_are_those_of_the_specification() {
    for name in ["", "a b", "a/b", "é", &"x".repeat(129)] {
        assert_one(&faults_of(endpoint().tool(tool(name))), name, &["no name for a tool"]);
        assert_one(&faults_of(endpoint().prompt(prompt(name))), name, &["no name for a prompt"]);
    }
    assert!(McpServer::builder().endpoint(endpoint().tool(tool("A-z_0.9"))).build().is_ok());
}

#[test]
fn a_path_belongs_to_one_endpoint() {
    let [first, second] =
        ["first", "second"].map(|name| Endpoint::builder("/same").name(name).tool(tool("a")));
    let faults = faults(McpServer::builder().endpoint(first).endpoint(second));
    assert_one(&faults, "/same", &["the path `/same` belongs to", "addresses.rs:"]);
}

#[test]
fn a_path_is_written_plainly() {
    for path in [
        "", "mcp", "/", "/mcp/", "//mcp", "/a//b", "/a b", "/a?b", "/a#b", "/{a}", "/*", "/a/../b", "/%6d",
        "/é",
    ] {
        let faults = faults_of(Endpoint::builder(path).tool(tool("a")));
        assert_one(&faults, path, &["no path for an endpoint", "/catalog/mcp"]);
    }
}

#[tokio::test]
async fn every_path_that_is_accepted_is_served() {
    for path in ["/mcp", "/a/b/c", "/a-b_c.d~e", "/v1:beta", "/:id", "/a/:b", "/@me/(x)/!$&'+,;="] {
        let server = || McpServer::builder().endpoint(Endpoint::builder(path).tool(tool("a")));
        let reply = Local::new(server()).send(&Message::call("a", json!({})).path(path)).await;
        assert_eq!(reply.text(), "done", "{path}");
        let router = server().admission(anonymous()).allowed_hosts(["localhost"]).into_router();
        assert!(router.is_ok(), "{path}");
    }
}

#[test]
fn a_uri_belongs_to_one_resource() {
    let faults = faults_of(endpoint().resource(resource("x://a")).resource(resource("x://a")));
    assert_one(&faults, "x://a", &["the URI `x://a` belongs to", "addresses.rs:"]);
}

#[test]
fn templates_that_one_uri_could_match_are_told() {
    for (left, right, overlap) in [
        ("x://{a}", "x://{b}", true),
        ("x://{a}/b", "x://a/{b}", true),
        ("x://{a}-{b}", "x://a{c}", true),
        ("x://a/{a}", "x://b/{a}", false),
        ("x://{a}", "x://{a}/{b}", false),
        ("x://{a}.txt", "x://{a}.md", false),
        ("x://{a}", "y://{a}", false),
    ] {
        let both = endpoint().resource(resource(left)).resource(resource(right));
        if overlap {
            assert_one(&faults_of(both), right, &["a URI could match both", left, "addresses.rs:"]);
        } else {
            assert!(McpServer::builder().endpoint(both).build().is_ok(), "{left} {right}");
        }
    }
    // An exact URI comes before a template, so the two may overlap.
    let both = endpoint().resource(resource("x://{a}")).resource(resource("x://a"));
    assert!(McpServer::builder().endpoint(both).build().is_ok());
}

#[test]
fn what_is_no_uri_or_template_is_told() {
    for (uri, says) in [
        ("plain", "no absolute URI"),
        ("/path", "no absolute URI"),
        ("x://sp ace", "no absolute URI"),
        ("x://%zz", "no absolute URI"),
        ("x://{a", "no URI template"),
        ("x://{}", "no URI template"),
        ("x://{+a}", "no URI template"),
        ("x://{a}{b}", "no URI template"),
        ("x://{a}/{a}", "no URI template"),
        ("{a}", "no URI template"),
    ] {
        assert_one(&faults_of(endpoint().resource(resource(uri))), uri, &[says, uri]);
    }
}

#[test]
fn a_template_has_no_size() {
    let faults = faults_of(endpoint().resource(resource("x://{a}").size(3)));
    assert_one(&faults, "x://{a}", &["a template has no size"]);
}

#[test]
fn an_endpoint_has_one_resource_list() {
    let list = || ResourceList::new().handler(async || Vec::<ResourceEntry>::new());
    let faults = faults_of(endpoint().resource_list(list()).resource_list(list()));
    assert_one(&faults, "resource list", &["one resource list", "addresses.rs:"]);
}

#[test]
fn a_completion_completes_what_exists_and_once() {
    let complete = |source: CompletionSource| source.handler(async || vec!["a"]);
    let ready =
        || endpoint().prompt(prompt("p")).resource(resource("x://{id}")).resource(resource("x://exact/a"));
    for (source, says) in [
        (CompletionSource::prompt("q", "topic"), "the prompt `q`, which does not exist"),
        (CompletionSource::prompt("p", "nothing"), "the argument `nothing`, which does not exist"),
        (CompletionSource::resource("x://{no}", "no"), "the resource `x://{no}`, which does not exist"),
        (CompletionSource::resource("x://{id}", "no"), "the argument `no`, which does not exist"),
        (CompletionSource::resource("x://exact/a", "id"), "the argument `id`, which does not exist"),
    ] {
        let faults = faults_of(ready().completion(complete(source)));
        assert!(faults.len() == 1 && faults[0].message.contains(says), "{says}: {faults:#?}");
    }
    let twice = ready()
        .completion(complete(CompletionSource::prompt("p", "topic")))
        .completion(complete(CompletionSource::prompt("p", "topic")));
    assert_one(&faults_of(twice), "completion of topic", &["is completed by", "already"]);
}

#[test]
fn an_endpoint_says_who_it_is() {
    let nameless = Endpoint::builder("/mcp").name(" ").version("").website_url("not a url").tool(tool("a"));
    let faults = faults_of(nameless);
    assert_eq!(faults.len(), 3, "{faults:#?}");
    for (fault, says) in
        faults.iter().zip(["name is empty", "version is empty", "`website_url` is not absolute"])
    {
        assert_fault(fault, "/mcp", &[says]);
    }
}

#[test]
fn an_endpoint_serves_some_revision() {
    let faults = faults_of(endpoint().revisions([]).tool(tool("a")));
    assert_one(&faults, "/mcp", &["serves no revision", "2025-06-18, 2025-11-25, 2026-07-28"]);
}

#[test]
fn an_operation_by_hand_needs_a_handler() {
    let faults = faults_of(
        endpoint()
            .tool(Tool::new("tool"))
            .prompt(Prompt::new("prompt"))
            .resource(Resource::new("x://a", "resource"))
            .resource_list(ResourceList::new()),
    );
    let items = ["tool", "prompt", "resource", "resource list"];
    assert_eq!(faults.len(), items.len(), "{faults:#?}");
    for item in items {
        let fault = faults.iter().find(|fault| fault.place.as_deref().is_some_and(|at| at.contains(item)));
        assert_fault(fault.unwrap_or_else(|| panic!("{item}")), item, &["has no handler", ".handler("]);
    }
}
