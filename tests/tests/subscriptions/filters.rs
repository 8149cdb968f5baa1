//! What of a filter is honoured.

use mcp_runtime::{McpServer, prelude::*, subscription::allow_all, testing::Heard};
use mcp_tests::{Local, Message, endpoint};
use serde_json::{Value, json};

use super::{Client, assert_silent, builder, built, heard, listening, open_server};

const AT: &str = "/params/notifications";

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

async fn faults(client: &Client, filter: &[(&str, Value)]) -> Vec<String> {
    let listen =
        filter.iter().fold(client.listen(), |listen, (name, value)| listen.filter(name, value.clone()));
    let error = listen.await.expect_err("the filter is wrong");
    assert_eq!(error.code, -32602, "{error}");
    let data = error.data.expect("data");
    let faults = data["faults"].as_array().into_iter().flatten();
    faults.map(|fault| format!("{}: {}", text(&fault["at"]), text(&fault["message"]))).collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_not_asked_is_not_acknowledged_and_unknown_keys_are_ignored() {
    let (_server, client) = open_server();
    for (name, value) in
        [("toolsListChanged", json!(false)), ("taskIds", json!([7])), ("future", json!(null))]
    {
        let listening = client.listen().filter(name, value).await.unwrap();
        assert_eq!(*listening.acknowledged(), json!({}));
    }
    let all =
        client.listen().tools().prompts().resources().resource("note://1").filter("more", 1).await.unwrap();
    assert_eq!(
        *all.acknowledged(),
        json!({
            "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
            "resourceSubscriptions": ["note://1"],
        })
    );
}

#[tokio::test(start_paused = true)]
async fn every_wrong_type_is_named() {
    let (_server, client) = open_server();
    let wrong = [("toolsListChanged", json!("yes")), ("resourceSubscriptions", json!(["note://1", 7]))];
    assert_eq!(
        faults(&client, &wrong).await,
        [
            format!("{AT}/resourceSubscriptions/1: expected a string, found a number"),
            format!("{AT}/toolsListChanged: expected a boolean, found a string"),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_filter_that_is_missing_or_no_object_is_named_with_http_400() {
    let local = Local::new(builder().subscription_authorizer(allow_all()));
    for message in [
        Message::request("subscriptions/listen"),
        Message::listen(json!([])),
        Message::listen(json!(null)),
        Message::listen(json!({ "promptsListChanged": 1 })).set("/params/more", 1),
    ] {
        let reply = local.send(&message).await;
        assert_eq!(reply.refusal(), (400, -32602), "{message:?}");
        let faults = reply.faults();
        assert!(faults.iter().any(|at| at.starts_with(AT)), "{faults:?}");
    }
    assert_eq!(local.subscriptions().open(), 0);
}

#[tokio::test(start_paused = true)]
async fn uris_have_to_be_absolute_even_those_that_nothing_serves() {
    let (_server, client) = open_server();
    let uris = json!(["note://1", "1.txt", "nobody://serves/this", "/etc/passwd", "", "x y://z"]);
    let faults = faults(&client, &[("resourceSubscriptions", uris)]).await;
    let at: Vec<&str> = faults.iter().filter_map(|fault| fault.split(": ").next()).collect();
    let expected = [1, 3, 4, 5].map(|index| format!("{AT}/resourceSubscriptions/{index}"));
    assert_eq!(at, expected, "{faults:?}");
}

#[tokio::test(start_paused = true)]
async fn only_what_is_served_or_accepted_is_honoured() {
    let build = |kinds: &[ChangeKind]| {
        let fixed = Resource::new("file:///fixed.txt", "fixed").handler(async || "fixed");
        let endpoint = endpoint().resource(fixed).changes(kinds.iter().copied());
        let endpoint = endpoint.subscribable(|uri| uri.starts_with("topic:"));
        built(McpServer::builder().endpoint(endpoint).subscription_authorizer(allow_all()))
    };
    let uris = json!(["topic:a", "file:///other.txt", "file:///fixed.txt"]);
    let (_server, client) = build(&[ChangeKind::Updates]);
    let all =
        client.listen().tools().prompts().resources().filter("resourceSubscriptions", uris.clone()).await;
    let honoured = json!({ "resourceSubscriptions": ["topic:a", "file:///fixed.txt"] });
    assert_eq!(*all.unwrap().acknowledged(), honoured);
    let (_server, client) = build(&[ChangeKind::Resources]);
    let lists = client.listen().resources().filter("resourceSubscriptions", uris).await.unwrap();
    assert_eq!(*lists.acknowledged(), json!({ "resourcesListChanged": true }));
}

#[tokio::test(start_paused = true)]
async fn the_clients_spelling_is_repeated_and_its_normal_form_is_matched() {
    let (server, client) = open_server();
    let mut listening = client.listen().resource("NOTE://%41/../b").resource("note://1").await.unwrap();
    assert_eq!(
        *listening.acknowledged(),
        json!({ "resourceSubscriptions": ["note://1"] }),
        "no such template"
    );
    server.publisher().resource_updated("NOTE://%31").unwrap();
    assert_eq!(heard(&mut listening).await, Heard::resource("note://1"));

    let mut listening = client.listen().resource("FILE:///a/../%66ixed.txt").await.unwrap();
    assert_eq!(*listening.acknowledged(), json!({ "resourceSubscriptions": ["FILE:///a/../%66ixed.txt"] }));
    server.publisher().resource_updated("file:///fixed.txt").unwrap();
    assert_eq!(heard(&mut listening).await, Heard::resource("FILE:///a/../%66ixed.txt"));
}

#[tokio::test(start_paused = true)]
async fn spellings_of_one_resource_are_one_subscription_under_the_first() {
    let (server, client) = open_server();
    let listen =
        client.listen().resource("note://%31").resource("note://2").resource("note://1").resource("note://2");
    let mut listening = listen.await.unwrap();
    assert_eq!(*listening.acknowledged(), json!({ "resourceSubscriptions": ["note://%31", "note://2"] }));
    server.publisher().resource_updated("note://1").unwrap();
    assert_eq!(heard(&mut listening).await, Heard::resource("note://%31"));
    assert_silent(&mut listening).await;
}

#[tokio::test(start_paused = true)]
async fn a_filter_takes_1024_resources_without_doubles() {
    let (server, client) = open_server();
    let uris = |count: usize| (0..count).map(|id| format!("note://{id}")).collect::<Vec<_>>();
    let mut doubled = uris(1024);
    doubled.extend(uris(1024));
    let mut listening = client.listen().filter("resourceSubscriptions", doubled).await.unwrap();
    assert_eq!(listening.acknowledged()["resourceSubscriptions"], json!(uris(1024)));
    server.publisher().resource_updated("note://1023").unwrap();
    assert_eq!(heard(&mut listening).await, Heard::resource("note://1023"));
    let faults = faults(&client, &[("resourceSubscriptions", json!(uris(1025)))]).await;
    assert_eq!(faults, [format!("{AT}/resourceSubscriptions: more than 1024 URIs")]);
}

#[tokio::test(start_paused = true)]
async fn a_resource_has_8_kib_at_most() {
    let (_server, client) = open_server();
    let uri = |length: usize| format!("note://{}", "a".repeat(length - 7));
    let listening = listening(&client, &uri(8192)).await;
    assert_eq!(listening.acknowledged()["resourceSubscriptions"][0], uri(8192));
    let faults = faults(&client, &[("resourceSubscriptions", json!([uri(8193)]))]).await;
    assert_eq!(faults, [format!("{AT}/resourceSubscriptions/0: longer than 8192 bytes")]);
}

#[tokio::test(start_paused = true)]
async fn both_bounds_can_be_set() {
    let builder = builder().subscription_authorizer(allow_all());
    let (_server, client) = built(builder.max_subscribed_resources(1).max_subscribed_uri_bytes(9));
    assert!(client.listen().resource("note://10").await.is_ok());
    assert!(client.listen().resource("note://1").resource("note://2").await.is_err());
    assert!(client.listen().resource("note://100").await.is_err());
}
