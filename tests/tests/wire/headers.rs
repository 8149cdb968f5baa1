//! Headers that mirror the body.

use mcp_tests::{Message, Reply, Served};
use serde_json::{Value, json};

use super::server;

async fn send(message: &Message) -> Reply {
    Served::start(server()).await.send(message).await
}

/// Expects a mismatch, at these headers.
async fn mismatched(message: &Message, at: &[&str]) {
    let reply = send(message).await;
    assert_eq!(reply.refusal(), (400, -32020), "{message:?}\n{reply:?}");
    assert_eq!(reply.faults(), at, "{reply:?}");
    assert_eq!(reply.json()["id"], 1);
}

fn echo() -> Message {
    Message::call("echo", json!({ "text": "hi" }))
}

const STANDARD: [&str; 3] = ["mcp-protocol-version", "mcp-method", "mcp-name"];

#[tokio::test]
async fn a_missing_header_is_refused() {
    for name in STANDARD {
        mismatched(&echo().without(name), &[name]).await;
    }
}

#[tokio::test]
async fn all_missing_headers_are_told_together() {
    let message = STANDARD.iter().fold(echo(), |message, name| message.without(name));
    mismatched(&message, &STANDARD).await;
}

#[tokio::test]
async fn a_header_that_comes_twice_is_refused_even_if_it_says_the_same() {
    for (name, value) in STANDARD.into_iter().zip(["2026-07-28", "tools/call", "echo"]) {
        mismatched(&echo().also(name, value), &[name]).await;
    }
}

#[tokio::test]
async fn a_header_that_differs_from_the_body_is_refused() {
    for (name, value) in [
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-method", "tools/list"),
        ("mcp-name", "other"),
        ("mcp-name", ""),
    ] {
        mismatched(&echo().header(name, value), &[name]).await;
    }
    let message = Message::read("wire://text").header("mcp-name", "wire://other");
    mismatched(&message, &["mcp-name"]).await;
    let message = Message::prompt("greeting", json!({ "name": "Ada" })).header("mcp-name", "greetings");
    mismatched(&message, &["mcp-name"]).await;
}

#[tokio::test]
async fn names_of_headers_ignore_case_and_values_do_not() {
    let message = echo()
        .without("mcp-name")
        .without("mcp-method")
        .header("MCP-NAME", "echo")
        .header("Mcp-Method", "tools/call");
    assert_eq!(send(&message).await.text(), "hi");
    mismatched(&echo().header("mcp-method", "Tools/Call"), &["mcp-method"]).await;
    mismatched(&echo().header("mcp-name", "ECHO"), &["mcp-name"]).await;
}

#[tokio::test]
async fn whitespace_around_a_value_does_not_count() {
    let message = echo().header("mcp-name", " \t echo \t ").header("mcp-method", "  tools/call  ");
    assert_eq!(send(&message).await.text(), "hi");
    mismatched(&echo().header("mcp-name", "ec ho"), &["mcp-name"]).await;
}

#[tokio::test]
async fn a_name_may_be_marked_as_base64() {
    assert_eq!(send(&echo().header("mcp-name", "=?base64?ZWNobw==?=")).await.text(), "hi");
    let unicode = Message::call("écho", json!({})).header("mcp-name", "=?base64?w6ljaG8=?=");
    assert_eq!(send(&unicode).await.refusal(), (200, -32602), "it matches, and there is no such tool");
}

#[tokio::test]
async fn a_bad_encoding_or_character_in_a_name_is_refused() {
    for value in [
        &b"=?base64?ZWNobw?="[..],
        b"=?base64?ZWNobx==?=",
        b"=?base64?ZWN obw==?=",
        b"=?base64?/w==?=",
        b"=?BASE64?ZWNobw==?=",
        b"=?base64?ZWNobw==",
        b"\xc3\xa9cho",
        b"echo\xff",
    ] {
        mismatched(&echo().header("mcp-name", value), &["mcp-name"]).await;
    }
}

#[tokio::test]
async fn only_names_and_parameters_may_be_encoded() {
    mismatched(&echo().header("mcp-method", "=?base64?dG9vbHMvY2FsbA==?="), &["mcp-method"]).await;
    let version = "=?base64?MjAyNi0wNy0yOA==?=";
    mismatched(&echo().header("mcp-protocol-version", version), &["mcp-protocol-version"]).await;
}

#[tokio::test]
async fn a_name_is_asked_for_only_where_there_is_one_to_mirror() {
    let message = Message::request("tools/list");
    assert_eq!(send(&message).await.status, 200);
    assert_eq!(send(&message.header("mcp-name", "whatever")).await.status, 200);
}

#[tokio::test]
async fn notifications_mirror_nothing() {
    let message = Message::notification("notifications/cancelled");
    let bare = STANDARD.iter().fold(message, |message, name| message.without(name));
    assert_eq!(send(&bare).await.status, 202);
}

fn ship(arguments: Value, headers: &[(&str, &str)]) -> Message {
    let message = Message::call("ship", arguments);
    headers.iter().fold(message, |message, (name, value)| message.also(name, value))
}

#[tokio::test]
async fn mirrored_arguments_agree_with_their_headers() {
    for (arguments, headers) in [
        (json!({}), &[][..]),
        (json!({ "region": null }), &[]),
        (json!({ "region": "eu" }), &[("Mcp-Param-Region", "eu")]),
        (json!({ "region": "eu" }), &[("mcp-param-region", " eu ")]),
        (json!({ "region": "" }), &[("mcp-param-region", "")]),
        (json!({ "region": "世界" }), &[("mcp-param-region", "=?base64?5LiW55WM?=")]),
        (json!({ "region": " padded " }), &[("mcp-param-region", "=?base64?IHBhZGRlZCA=?=")]),
        (json!({ "count": 42 }), &[("mcp-param-count", "42")]),
        (json!({ "count": 42 }), &[("mcp-param-count", "42.0")]),
        (json!({ "count": -7 }), &[("mcp-param-count", "-7")]),
        (json!({ "urgent": true }), &[("mcp-param-urgent", "true")]),
        (
            json!({ "region": "eu", "count": 1, "urgent": false }),
            &[("mcp-param-urgent", "false"), ("mcp-param-count", "1"), ("mcp-param-region", "eu")],
        ),
    ] {
        let reply = send(&ship(arguments.clone(), headers)).await;
        assert_eq!(reply.result().get("isError"), None, "{arguments} {headers:?} {reply:?}");
    }
}

#[tokio::test]
async fn mirrored_arguments_that_differ_from_their_headers_are_refused() {
    for (arguments, header, value) in [
        (json!({ "region": "eu" }), "mcp-param-region", "us"),
        (json!({ "region": "eu" }), "mcp-param-region", "EU"),
        (json!({ "region": "eu" }), "mcp-param-region", "=?base64?dXM=?="),
        (json!({ "region": "eu" }), "mcp-param-region", "=?base64?!!?="),
        (json!({ "count": 42 }), "mcp-param-count", "43"),
        (json!({ "count": 42 }), "mcp-param-count", "0x2a"),
        (json!({ "urgent": true }), "mcp-param-urgent", "True"),
        (json!({ "urgent": true }), "mcp-param-urgent", "1"),
        // The header is there, and the argument is not.
        (json!({}), "mcp-param-region", "eu"),
        (json!({ "region": null }), "mcp-param-region", "null"),
    ] {
        mismatched(&ship(arguments, &[(header, value)]), &[header]).await;
    }
}

#[tokio::test]
async fn mirrored_arguments_without_their_headers_are_told_together() {
    let message = ship(json!({ "region": "eu", "count": 1, "urgent": true }), &[("mcp-param-count", "1")]);
    mismatched(&message, &["mcp-param-region", "mcp-param-urgent"]).await;
}

#[tokio::test]
async fn a_mirrored_header_that_comes_twice_is_refused() {
    let twice = [("mcp-param-region", "eu"), ("mcp-param-region", "eu")];
    mismatched(&ship(json!({ "region": "eu" }), &twice), &["mcp-param-region"]).await;
}

#[tokio::test]
async fn headers_that_mirror_nothing_known_are_ignored() {
    let message = ship(json!({}), &[("mcp-param-colour", "red"), ("mcp-param-region-2", "x")]);
    assert_eq!(send(&message).await.text(), "None None None");
}

#[tokio::test]
async fn a_header_is_checked_by_value_even_if_the_argument_does_not_fit() {
    let message = ship(json!({ "count": "many" }), &[("mcp-param-count", "few")]);
    mismatched(&message, &["mcp-param-count"]).await;
    let message = ship(json!({ "count": "many" }), &[("mcp-param-count", "many")]);
    assert!(send(&message).await.failure().contains("count"));
}
