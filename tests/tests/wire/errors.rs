//! Every condition of the error table: status, code, id and data.

use mcp_tests::{CAPABILITIES, CLIENT_INFO, LOG_LEVEL, Message, PROTOCOL_VERSION, Reply, Served, endpoint};
use serde_json::{Value, json};

use super::{server, serving};

async fn send(message: &Message) -> Reply {
    Served::start(server()).await.send(message).await
}

/// Sends all messages to one server, and expects the same refusal of each.
async fn all_refused(refusal: (u16, i64), messages: impl IntoIterator<Item = Message>) -> Vec<Reply> {
    let served = Served::start(server()).await;
    let mut replies = Vec::new();
    for message in messages {
        let reply = served.send(&message).await;
        assert_eq!(reply.refusal(), refusal, "{message:?}\n{reply:?}");
        replies.push(reply);
    }
    replies
}

fn raw(bodies: &[&str]) -> Vec<Message> {
    let message = Message::request("tools/list");
    bodies.iter().map(|body| message.clone().body(*body)).collect()
}

#[tokio::test]
async fn what_is_not_json_is_a_parse_error_without_an_id() {
    let mut messages = raw(&["", " ", "{", "tools/list", r#"{"jsonrpc":"2.0","id":1}}"#, "{'id':1}"]);
    messages.push(Message::request("tools/list").body(*b"{\"id\":\"\xff\"}"));
    for reply in all_refused((400, -32700), messages).await {
        assert_eq!(reply.json().get("id"), None, "{reply:?}");
    }
}

#[tokio::test]
async fn json_may_nest_128_levels_deep_and_no_deeper() {
    let nested = |depth: usize| {
        let arrays = "[".repeat(depth) + &"]".repeat(depth);
        let body = String::from_utf8(Message::request("tools/list").bytes()).unwrap();
        Message::request("tools/list").body(format!(r#"{{"x":{arrays},{}"#, &body[1..]))
    };
    assert_eq!(send(&nested(127)).await.status, 200);
    assert_eq!(send(&nested(128)).await.refusal(), (400, -32700));
    assert_eq!(send(&nested(1_000_000)).await.refusal(), (400, -32700));
}

#[tokio::test]
async fn what_is_no_request_object_is_an_invalid_request() {
    let mut messages = raw(&[
        "null",
        "1",
        r#""tools/list""#,
        "[]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#,
    ]);
    let message = Message::request("tools/list");
    for id in [json!(null), json!(1.5), json!(true), json!([1]), json!({})] {
        messages.push(message.clone().id(id));
    }
    messages.push(message.clone().unset("/jsonrpc"));
    messages.push(message.clone().set("/jsonrpc", "1.0"));
    messages.push(message.clone().set("/jsonrpc", 2.0));
    messages.push(message.clone().unset("/method"));
    messages.push(message.clone().set("/method", 7));
    messages.push(message.clone().set("/params", json!([1])));
    messages.push(message.set("/params", Value::Null));
    all_refused((400, -32600), messages).await;
}

#[tokio::test]
async fn all_faults_of_the_envelope_are_told_together() {
    let broken = r#"{"jsonrpc":"1.0","id":null,"method":7,"params":[],"x":{"y":1,"y":2}}"#;
    let reply = send(&Message::request("tools/list").body(broken)).await;
    assert_eq!(reply.faults(), ["/x/y", "/jsonrpc", "/id", "/method", "/params"]);
}

#[tokio::test]
async fn an_invalid_request_keeps_its_id_if_that_could_be_read() {
    let message = Message::request("tools/list").set("/params", 5);
    assert_eq!(send(&message.clone().id("x-7")).await.json()["id"], "x-7");
    assert_eq!(send(&message.id(Value::Null)).await.json().get("id"), None);
    let twice = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}"#;
    assert_eq!(send(&Message::request("tools/list").body(twice)).await.json().get("id"), None);
}

#[tokio::test]
async fn a_key_that_comes_twice_is_refused_wherever_it_is() {
    for (body, at) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, "/method"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"a","name":"b"}}"#, "/params/name"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"arguments":{"a":[{"b":1,"\u0062":2}]}}}"#,
            "/params/arguments/a/0/b",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"_meta":{"progressToken":1,"progressToken":2}}}"#,
            "/params/_meta/progressToken",
        ),
    ] {
        let reply = send(&Message::request("a").body(body)).await;
        assert_eq!(reply.refusal(), (400, -32600), "{body}");
        assert_eq!(reply.faults(), [at], "{body}");
        assert_eq!(reply.json()["id"], 1, "{body}");
    }
}

#[tokio::test]
async fn an_unknown_revision_is_answered_with_the_served_ones() {
    for revision in ["1900-01-01", "2027-01-01", "2025-11-25", "2025-06-18", "latest", ""] {
        let message = Message::request("tools/list")
            .meta(PROTOCOL_VERSION, revision)
            .header("mcp-protocol-version", revision);
        let reply = send(&message).await;
        assert_eq!(reply.refusal(), (400, -32022), "{revision}");
        let supported = ["2026-07-28", "2025-11-25", "2025-06-18"];
        assert_eq!(reply.error()["data"], json!({ "supported": supported, "requested": revision }));
        assert_eq!(reply.json()["id"], 1);
    }
}

#[tokio::test]
async fn missing_metadata_is_told_with_every_field_that_is_missing() {
    let message = Message::request("tools/list");
    let reply = send(&message.clone().set("/params", json!({}))).await;
    assert_eq!(reply.refusal(), (400, -32602));
    let version = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
    let capabilities = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
    assert_eq!(reply.faults(), ["/params/_meta", version, capabilities]);
    let reply = send(&message.clone().unset("/params")).await;
    assert_eq!(reply.refusal(), (400, -32602));
    let reply = send(&message.without_meta(CAPABILITIES)).await;
    assert_eq!((reply.refusal(), reply.faults()), ((400, -32602), vec![capabilities.to_owned()]));
    assert_eq!(reply.json()["id"], 1);
}

#[tokio::test]
async fn mistyped_metadata_is_told_all_at_once() {
    let message = Message::request("tools/list")
        .meta(CAPABILITIES, json!([]))
        .meta(CLIENT_INFO, json!({ "name": 7 }))
        .meta(LOG_LEVEL, "loud")
        .progress_token(1.5);
    let reply = send(&message).await;
    assert_eq!(reply.refusal(), (400, -32602));
    let mut faults = reply.faults();
    faults.sort();
    assert_eq!(
        faults,
        [
            "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
            "/params/_meta/io.modelcontextprotocol~1clientInfo/name",
            "/params/_meta/io.modelcontextprotocol~1clientInfo/version",
            "/params/_meta/io.modelcontextprotocol~1logLevel",
            "/params/_meta/progressToken",
        ]
    );
}

#[tokio::test]
async fn parameters_of_the_wrong_shape_are_a_bad_request() {
    let call = Message::call("echo", json!({}));
    let complete = Message::complete(json!({ "type": "ref/prompt", "name": "greeting" }), "name", "");
    for (message, at) in [
        (call.clone().unset("/params/name"), "/params/name"),
        (call.clone().set("/params/name", 5), "/params/name"),
        (call.clone().set("/params/arguments", json!([])), "/params/arguments"),
        (call.set("/params/arguments", Value::Null), "/params/arguments"),
        (Message::read("x").set("/params/uri", json!({})), "/params/uri"),
        (Message::prompt("greeting", json!("Ada")), "/params/arguments"),
        (Message::request("tools/list").set("/params/cursor", 5), "/params/cursor"),
        (complete.clone().set("/params/ref", json!({})), "/params/ref/type"),
        (complete.clone().unset("/params/argument/value"), "/params/argument/value"),
        (complete.set("/params/context", json!({ "arguments": 1 })), "/params/context/arguments"),
    ] {
        let reply = send(&message).await;
        assert_eq!(reply.refusal(), (400, -32602), "{message:?}\n{reply:?}");
        assert_eq!(reply.faults(), [at]);
    }
}

#[tokio::test]
async fn capabilities_that_the_client_lacks_are_named_together() {
    let message = Message::call("demanding", json!({}));
    let reply = send(&message.clone().meta(CAPABILITIES, json!({ "elicitation": {} }))).await;
    assert_eq!(reply.refusal(), (400, -32021));
    let missing = json!({ "sampling": {}, "roots": {} });
    assert_eq!(reply.error()["data"]["requiredCapabilities"], missing);
    let reply = send(&message.clone().meta(CAPABILITIES, json!({ "sampling": {} }))).await;
    assert_eq!(reply.error()["data"]["requiredCapabilities"], json!({ "roots": {} }));
    assert_eq!(send(&message.meta(CAPABILITIES, missing)).await.text(), "satisfied");
}

#[tokio::test]
async fn an_unknown_method_is_not_found() {
    let methods = [
        "tools/lists",
        "Tools/list",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "tasks/get",
        "rpc.discover",
    ];
    let mut messages: Vec<Message> = methods.map(Message::request).into();
    // In this revision it is a method like any other, and there is none.
    messages.push(Message::request("initialize"));
    for reply in all_refused((404, -32601), messages).await {
        assert_eq!(reply.json()["id"], 1);
    }
}

#[tokio::test]
async fn methods_for_what_is_not_served_are_unknown() {
    let tool = mcp_runtime::prelude::Tool::new("only").handler(async || "tool");
    let served = Served::start(serving(endpoint().tool(tool))).await;
    for message in [
        Message::request("resources/list"),
        Message::request("resources/templates/list"),
        Message::request("prompts/list"),
        Message::read("wire://text"),
        Message::prompt("greeting", json!({})),
        Message::complete(json!({ "type": "ref/prompt", "name": "greeting" }), "name", ""),
    ] {
        assert_eq!(served.send(&message).await.refusal(), (404, -32601), "{message:?}");
    }
    assert_eq!(served.send(&Message::call("only", json!({}))).await.text(), "tool");
}

#[tokio::test]
async fn names_that_do_not_exist_are_invalid_parameters_of_a_good_request() {
    let bad_reference = json!({ "type": "ref/prompt", "name": "nobody" });
    for message in [
        Message::call("ech", json!({ "text": "x" })),
        Message::call("Echo", json!({ "text": "x" })),
        Message::prompt("farewell", json!({})),
        Message::read("wire://nowhere"),
        Message::read("wire://failing/so/deep"),
        Message::request("tools/list").set("/params/cursor", "nonsense"),
        Message::request("tools/list").set("/params/cursor", ""),
        Message::request("tools/list").set("/params/cursor", "x".repeat(5000)),
        Message::complete(bad_reference, "name", ""),
    ] {
        let reply = send(&message).await;
        assert_eq!(reply.refusal(), (200, -32602), "{message:?}\n{reply:?}");
        assert_eq!(reply.json()["id"], 1);
    }
}

#[tokio::test]
async fn an_unknown_resource_is_named_whether_or_not_a_template_matches() {
    for uri in ["wire://nowhere", "wire://failing/hidden"] {
        let error = send(&Message::read(uri)).await.error();
        assert_eq!(error["code"], -32602);
        assert_eq!(error["message"], "resource not found");
        assert_eq!(error["data"], json!({ "uri": uri }));
    }
}

#[tokio::test]
async fn arguments_of_a_prompt_that_do_not_fit_are_told_together() {
    let reply = send(&Message::prompt("greeting", json!({ "nmae": "Ada" }))).await;
    assert_eq!(reply.refusal(), (200, -32602));
    assert_eq!(reply.faults(), ["name", "nmae"]);
    let reply = send(&Message::prompt("greeting", json!({ "name": 5 }))).await;
    assert_eq!((reply.refusal(), reply.faults()), ((200, -32602), vec!["name".to_owned()]));
}

#[tokio::test]
async fn arguments_of_a_tool_that_do_not_fit_are_a_result_that_its_model_can_read() {
    let reply = send(&Message::call("echo", json!({ "text": 5, "txt": "x" }))).await;
    let text = reply.failure();
    assert_eq!(reply.status, 200);
    for part in ["text", "string", "integer `5`", "`text`?"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(send(&Message::call("echo", json!({}))).await.failure().contains("text: missing"));
}

#[tokio::test]
async fn the_failure_of_a_tool_is_a_result() {
    let reply = send(&Message::call("failing", json!({}))).await;
    assert_eq!((reply.status, &*reply.failure()), (200, "out of luck"));
}

#[tokio::test]
async fn the_failure_of_a_resource_or_prompt_is_an_error_of_its_own() {
    for (message, code, text) in [
        (Message::read("wire://failing/plainly"), -32603, "the disk is full"),
        (Message::read("wire://failing/by-code"), 4711, "try the other shelf"),
        (Message::read("wire://failing/secretly"), -32603, "internal error"),
        (Message::prompt("greeting", json!({ "name": "nobody" })), -32603, "there is nobody to greet"),
    ] {
        let reply = send(&message).await;
        assert_eq!(reply.refusal(), (200, code), "{reply:?}");
        assert_eq!(reply.error()["message"], text);
    }
    let reply = send(&Message::read("wire://failing/with-data")).await;
    assert_eq!(reply.error()["data"], json!({ "to": "wire://text" }));
}

#[tokio::test]
async fn a_panic_is_an_internal_error_that_says_nothing() {
    let served = Served::start(server()).await;
    let reply = served.send(&Message::call("panicking", json!({})).id("p")).await;
    assert_eq!(reply.refusal(), (500, -32603));
    assert_eq!(reply.json()["id"], "p");
    assert!(!format!("{reply:?}").contains("hunter2"), "{reply:?}");
    assert_eq!(served.send(&Message::call("echo", json!({ "text": "alive" }))).await.text(), "alive");
}

#[tokio::test]
async fn ids_come_back_exactly_as_they_were() {
    let served = Served::start(server()).await;
    for id in [
        "0",
        "1",
        "-7",
        "9007199254740993",
        "-9223372036854775808",
        "18446744073709551616",
        r#""1""#,
        r#""""#,
        r#""été \" \\ \u0000""#,
    ] {
        let expected: &serde_json::value::RawValue = serde_json::from_str(id).unwrap();
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        for (method, status) in [("tools/list", 200), ("nothing", 404)] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{meta}}}}}"#);
            let reply = served.send(&Message::request(method).body(body)).await;
            assert_eq!(reply.status, status, "{reply:?}");
            let body = String::from_utf8(reply.body).unwrap();
            assert!(body.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{expected},"#)), "{body}");
        }
    }
}
