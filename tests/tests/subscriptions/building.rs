//! Who offers subscriptions, and what a server needs for that.

use mcp_runtime::{
    McpServer,
    prelude::*,
    subscription::{InMemoryPublisher, allow_all, deny_all},
};
use mcp_tests::{Local, Message, build_error, endpoint, seconds};
use serde_json::{Value, json};

use super::{Changing, Client, builder, built, refused};

async fn capabilities(client: &Client) -> Value {
    client.discover().await.expect("it is served").into_result()["capabilities"].take()
}

fn plain() -> Endpoint {
    endpoint().tool(Tool::new("t").handler(async || "t"))
}

#[tokio::test(start_paused = true)]
async fn without_changes_nothing_is_declared_and_listening_is_an_unknown_method() {
    let (_server, client) = built(McpServer::builder().endpoint(plain()));
    assert_eq!(refused(client.listen().tools().await), -32601);
    assert_eq!(capabilities(&client).await, json!({ "tools": {} }));
    let local = Local::new(McpServer::builder().endpoint(plain()));
    assert_eq!(local.send(&Message::listen(json!({}))).await.refusal(), (404, -32601));
}

#[tokio::test(start_paused = true)]
async fn what_may_change_is_declared_and_nothing_else() {
    let listed = json!({ "listChanged": true });
    for (kinds, expected) in [
        (vec![ChangeKind::Tools], json!({ "tools": listed })),
        (vec![ChangeKind::Prompts], json!({ "tools": {}, "prompts": listed })),
        (vec![ChangeKind::Resources], json!({ "tools": {}, "resources": listed })),
        (vec![ChangeKind::Updates], json!({ "tools": {}, "resources": { "subscribe": true } })),
        (
            ChangeKind::ALL.to_vec(),
            json!({ "tools": listed, "prompts": listed, "resources": { "subscribe": true, "listChanged": true } }),
        ),
    ] {
        let builder = McpServer::builder().endpoint(plain().changes(kinds));
        let (_server, client) = built(builder.subscription_authorizer(allow_all()));
        assert_eq!(capabilities(&client).await, expected);
        let everything = client.listen().tools().prompts().resources().await.unwrap();
        let flag = |capability: &str| expected[capability]["listChanged"] == true;
        for (name, capability) in [
            ("toolsListChanged", "tools"),
            ("promptsListChanged", "prompts"),
            ("resourcesListChanged", "resources"),
        ] {
            assert_eq!(
                everything.acknowledged().get(name).is_some(),
                flag(capability),
                "{name} of {expected}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_attribute_declares_as_well() {
    let (_server, client) = built(builder().subscription_authorizer(deny_all()));
    let capabilities = capabilities(&client).await;
    let listed = json!({ "listChanged": true });
    assert_eq!((&capabilities["tools"], &capabilities["prompts"]), (&listed, &listed));
    assert_eq!(capabilities["resources"], json!({ "subscribe": true, "listChanged": true }));
}

#[tokio::test(start_paused = true)]
async fn a_deployment_may_decline() {
    let publisher = InMemoryPublisher::new();
    let declining = || builder().publisher(publisher.clone()).serve_subscriptions(false);
    let (server, client) = built(declining());
    assert_eq!(publisher.listeners(), 0);
    assert_eq!(refused(client.listen().tools().await), -32601);
    let capabilities = capabilities(&client).await;
    assert_eq!(capabilities["tools"], json!({}));
    assert_eq!((&capabilities["prompts"], &capabilities["resources"]), (&json!({}), &json!({})));
    // Whoever publishes need not know.
    let response = client.call("touch").arg("uri", "note://1").await.unwrap();
    assert_eq!(response.text(), "told");
    server.subscriptions().reconcile();
    let local = Local::new(declining());
    assert_eq!(local.send(&Message::listen(json!({}))).await.refusal(), (404, -32601));
    assert!(server.handle().shutdown().await.is_graceful());
}

#[test]
fn publishing_endpoints_need_an_authorizer_each_and_all_are_named_with_their_places() {
    let by_hand = Endpoint::builder("/hand").changes([ChangeKind::Tools]);
    let line = line!() - 1;
    let error = build_error(McpServer::builder().endpoint(Changing).endpoint(by_hand)).to_string();
    let (annotated, by_hand) = (format!("{}:", place("main.rs")), format!("{}:{line}", place("building.rs")));
    for part in ["`Changing`", &annotated, &by_hand] {
        assert!(error.contains(part), "{part}: {error}");
    }
    for fix in [".subscription_authorizer(allow_all())", ".subscription_authorizer(deny_all())"] {
        assert_eq!(error.matches(fix).count(), 2, "{fix}: {error}");
    }
}

fn place(file: &str) -> String {
    format!("tests/tests/subscriptions/{file}")
}

#[test]
fn every_bound_of_subscriptions_is_checked() {
    let build = || builder().subscription_authorizer(allow_all());
    for (builder, name) in [
        (build().max_lease(seconds(0)), "max_lease"),
        (build().listen_lifetime(seconds(0)), "listen_lifetime"),
        (build().listen_lifetime(std::time::Duration::MAX), "listen_lifetime"),
        (build().authorization_timeout(seconds(0)), "authorization_timeout"),
        (build().max_authorization_checks(0), "max_authorization_checks"),
        (build().max_subscribed_resources(65_533), "max_subscribed_resources"),
        (build().keep_alive(seconds(30)), "keep_alive"),
    ] {
        let error = build_error(builder).to_string();
        assert!(error.contains(&format!("`{name}`")), "{name}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_without_changes_beside_one_with_them_stays_without() {
    let other =
        Endpoint::builder("/other").name("other").version("1").tool(Tool::new("t").handler(async || "t"));
    let server = builder().endpoint(other).subscription_authorizer(allow_all()).build().unwrap();
    assert_eq!(refused(Client::at(&server, "/other").listen().tools().await), -32601);
    assert!(Client::at(&server, "/mcp").listen().tools().await.is_ok());
}
