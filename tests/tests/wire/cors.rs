//! Pages of other origins: only those on the list may read answers.

use mcp_runtime::server::ServerBuilder;
use mcp_tests::{Message, Reply, Served};
use serde_json::json;

use super::server;

const APP: &str = "https://app.example.com";

fn open_to_app() -> ServerBuilder {
    server().cors_origins([APP])
}

fn echo() -> Message {
    Message::call("echo", json!({ "text": "hi" }))
}

fn preflight(origin: &str) -> Message {
    echo()
        .verb("OPTIONS")
        .body("")
        .without("content-type")
        .without("accept")
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type, mcp-method, authorization")
}

fn readable(reply: &Reply) -> bool {
    reply.header("access-control-allow-origin") == Some(APP)
}

#[tokio::test]
async fn a_listed_origin_may_ask_first() {
    let reply = Served::start(open_to_app()).await.send(&preflight(APP)).await;
    assert_eq!((reply.status, &*reply.body), (204, &b""[..]));
    assert!(readable(&reply), "{reply:?}");
    assert_eq!(reply.header("access-control-allow-methods"), Some("POST"));
    let headers = reply.header("access-control-allow-headers").unwrap();
    for header in ["content-type", "mcp-method", "authorization"] {
        assert!(headers.contains(header), "{headers}");
    }
    assert_eq!(reply.header("vary"), Some("origin"));
    assert_eq!(reply.header("content-type"), None);
}

#[tokio::test]
async fn another_origin_may_not_ask() {
    let served = Served::start(open_to_app()).await;
    let reply = served.send(&preflight("https://evil.example.com")).await;
    assert_eq!(reply.refusal(), (403, -32600));
    assert_eq!(reply.header("access-control-allow-origin"), None);
    // Its own pages need no permission, and OPTIONS is no method of the protocol.
    assert_eq!(served.send(&preflight("http://localhost")).await.status, 405);
}

#[tokio::test]
async fn without_a_list_nobody_may_ask() {
    let reply = Served::start(server()).await.send(&preflight(APP)).await;
    assert_eq!(reply.refusal(), (403, -32600));
    assert_eq!(reply.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn a_listed_origin_may_read_answers_and_refusals() {
    let served = Served::start(open_to_app()).await;
    for (message, status) in [
        (echo(), 200),
        (echo().body("{"), 400),
        (Message::request("nothing"), 404),
        (echo().header("accept", "text/html"), 406),
        (Message::call("panicking", json!({})), 500),
    ] {
        let reply = served.send(&message.header("origin", APP)).await;
        assert_eq!(reply.status, status);
        assert!(readable(&reply), "{reply:?}");
        assert_eq!(reply.header("access-control-expose-headers"), Some("retry-after, www-authenticate"));
    }
}

#[tokio::test]
async fn a_listed_origin_does_not_make_a_foreign_host_served() {
    let message = preflight(APP).header("host", "evil.example.com");
    assert_eq!(Served::start(open_to_app()).await.send(&message).await.status, 403);
}

#[tokio::test]
async fn a_request_from_no_page_says_nothing_of_origins() {
    let reply = Served::start(open_to_app()).await.send(&echo()).await;
    assert_eq!(reply.text(), "hi");
    assert_eq!(reply.header("access-control-allow-origin"), None);
}
