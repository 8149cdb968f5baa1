//! `tools/call`: arguments in, every kind of output back.

use std::collections::BTreeMap;

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Local, Message, Reply, endpoint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{plain, result, serving};

#[mcp_endpoint(path = "/mcp", name = "tools", version = "1.0.0")]
struct Tools;

#[derive(Serialize, Deserialize, JsonSchema)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    items: Vec<Item>,
}

#[derive(Deserialize, JsonSchema)]
struct Item {
    count: u32,
}

#[derive(Deserialize, Serialize, JsonSchema, Default, Debug)]
#[serde(rename_all = "lowercase")]
enum Colour {
    #[default]
    Red,
    Green,
}

#[mcp_endpoint]
impl Tools {
    #[mcp_tool]
    async fn text() -> &'static str {
        "plain"
    }

    #[mcp_tool]
    async fn nothing() {}

    #[mcp_tool]
    async fn structured() -> Json<Point> {
        Json(Point { x: 1.5, y: -2.0 })
    }

    #[mcp_tool]
    async fn list() -> Json<Vec<u8>> {
        Json(vec![1, 2])
    }

    #[mcp_tool]
    async fn number() -> Json<u64> {
        Json(42)
    }

    #[mcp_tool]
    async fn maybe(found: bool) -> Json<Option<Point>> {
        Json(found.then_some(Point { x: 0.0, y: 0.0 }))
    }

    #[mcp_tool]
    async fn blocks() -> Vec<Content> {
        let notes = Annotations { audience: vec![Role::User], priority: Some(0.9), last_modified: None };
        vec![
            Content::text("text").annotations(notes),
            Content::image([0, 1, 2], "image/png"),
            Content::audio([255], "audio/wav"),
            Content::resource(ResourceContents::text("x://a", "inside").with_mime_type("text/plain")),
            Content::resource(ResourceContents::blob("x://b", [1])),
            Content::link(ResourceLink::new("x://c", "linked")),
        ]
    }

    #[mcp_tool]
    async fn whole() -> Result<ToolResult, ToolError> {
        Ok(ToolResult::structured(json!({ "n": 1 }))?
            .with_content("said in words")
            .with_meta("example.com/note", "kept"))
    }

    #[mcp_tool]
    async fn unmirrored() -> Result<ToolResult, ToolError> {
        Ok(ToolResult::structured([1])?.without_mirror())
    }

    #[mcp_tool]
    async fn fails_with_content() -> Result<String, ToolError> {
        let picture = ToolResult::new().with_content(Content::image([7], "image/png"));
        Err(ToolError::result(picture.with_content("see above")))
    }

    #[mcp_tool]
    async fn fails_secretly() -> Result<String, ToolError> {
        Err(ToolError::internal("the password is hunter2"))
    }

    #[mcp_tool]
    async fn fails_by_question_mark(number: String) -> Result<String, ToolError> {
        let number: u8 = number.parse()?;
        Ok(number.to_string())
    }

    #[mcp_tool]
    async fn order(order: Order, _tags: Option<BTreeMap<String, u8>>) -> String {
        order.items.iter().map(|item| item.count).sum::<u32>().to_string()
    }

    #[mcp_tool]
    async fn defaults(
        #[mcp(default)] count: u32,
        #[mcp(default = 7)] most: u32,
        #[mcp(default = "eu")] region: String,
        #[mcp(default = Colour::Green)] colour: Colour,
        note: Option<String>,
    ) -> String {
        format!("{count} {most} {region} {colour:?} {note:?}")
    }

    #[mcp_tool(extra_arguments = "ignore")]
    async fn tolerant(limit: Option<u8>) -> String {
        format!("{limit:?}")
    }

    #[mcp_tool]
    fn blocking(text: String) -> String {
        let thread = std::thread::current();
        let pooled = thread.name().is_some_and(|name| name.starts_with("tokio"));
        format!("{text} {pooled}")
    }

    #[mcp_tool]
    async fn everything(args: Args<Point>) -> String {
        format!("{}", args.0.x + args.0.y)
    }
}

fn server() -> Local {
    Local::new(McpServer::builder().endpoint(Tools))
}

async fn call(tool: &str, arguments: Value) -> Reply {
    server().send(&Message::call(tool, arguments)).await
}

async fn called(tool: &str) -> Value {
    plain(call(tool, json!({})).await.result())
}

#[tokio::test]
async fn text_is_one_block_and_nothing_is_none() {
    assert_eq!(called("text").await, json!({ "content": [{ "type": "text", "text": "plain" }] }));
    assert_eq!(called("nothing").await, json!({ "content": [] }));
}

#[tokio::test]
async fn arguments_may_be_left_out_where_none_are_needed() {
    let message = Message::call("text", json!({})).unset("/params/arguments");
    assert_eq!(server().send(&message).await.text(), "plain");
    let message = Message::call("order", json!({})).unset("/params/arguments");
    assert!(server().send(&message).await.failure().contains("order: missing"));
}

#[tokio::test]
async fn structured_content_is_any_json_and_mirrored_as_text() {
    for (tool, value, text) in [
        ("structured", json!({ "x": 1.5, "y": -2.0 }), r#"{"x":1.5,"y":-2.0}"#),
        ("list", json!([1, 2]), "[1,2]"),
        ("number", json!(42), "42"),
    ] {
        let expected = json!({ "content": [{ "type": "text", "text": text }], "structuredContent": value });
        assert_eq!(called(tool).await, expected, "{tool}");
    }
    let nothing = call("maybe", json!({ "found": false })).await;
    assert_eq!(nothing.result().get("structuredContent"), Some(&Value::Null));
}

#[tokio::test]
async fn every_kind_of_content_is_written_as_the_protocol_has_it() {
    assert_eq!(
        called("blocks").await["content"],
        json!([
            { "type": "text", "text": "text", "annotations": { "audience": ["user"], "priority": 0.9 } },
            { "type": "image", "data": "AAEC", "mimeType": "image/png" },
            { "type": "audio", "data": "/w==", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "x://a", "mimeType": "text/plain", "text": "inside" } },
            { "type": "resource", "resource": { "uri": "x://b", "blob": "AQ==" } },
            { "type": "resource_link", "uri": "x://c", "name": "linked" },
        ])
    );
}

#[tokio::test]
async fn a_whole_result_keeps_its_words_and_its_metadata() {
    let result = call("whole", json!({})).await.result();
    assert_eq!(result["content"], json!([{ "type": "text", "text": "said in words" }]));
    assert_eq!(result["structuredContent"], json!({ "n": 1 }));
    assert_eq!(result["_meta"]["example.com/note"], "kept");
    assert_eq!(called("unmirrored").await, json!({ "content": [], "structuredContent": [1] }));
}

#[tokio::test]
async fn a_failure_may_have_content_of_its_own() {
    let result = called("fails_with_content").await;
    assert_eq!(result["isError"], true);
    assert_eq!(result["content"][0]["type"], "image");
    assert_eq!(result["content"][1]["text"], "see above");
}

#[tokio::test]
async fn a_failure_says_its_own_words_unless_it_is_internal() {
    let reply = call("fails_by_question_mark", json!({ "number": "x" })).await;
    assert_eq!(reply.failure(), "invalid digit found in string");
    let reply = call("fails_secretly", json!({})).await;
    assert_eq!(reply.failure(), "internal error");
    assert!(!format!("{reply:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_fault_deep_within_an_argument_is_found_there() {
    let order = json!({ "order": { "items": [{ "count": 1 }, { "count": "two" }] } });
    let text = call("order", order).await.failure();
    for part in ["order.items[1].count", "\"two\"", "an integer from 0 to 4294967295"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn all_faulty_arguments_are_told_together() {
    let arguments = json!({ "count": -1, "most": "x", "regoin": "eu", "colour": "blue" });
    let text = call("defaults", arguments).await.failure();
    for part in ["- count:", "- most:", "- colour:", "- regoin: unknown argument; did you mean `region`?"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text.lines().count(), 5, "{text}");
}

#[tokio::test]
async fn integers_outside_their_type_are_refused() {
    for (value, fits) in [
        (json!(0), true),
        (json!(4_294_967_295_u32), true),
        (json!(4_294_967_296_u64), false),
        (json!(-1), false),
        (json!(1.5), false),
        (json!("1"), false),
    ] {
        let reply = call("defaults", json!({ "count": value })).await;
        assert_eq!(reply.result().get("isError").is_none(), fits, "{value}: {reply:?}");
    }
}

#[tokio::test]
async fn what_is_absent_or_null_has_its_default() {
    assert_eq!(call("defaults", json!({})).await.text(), "0 7 eu Green None");
    let nulls = json!({ "count": null, "most": null, "region": null, "colour": null, "note": null });
    assert_eq!(call("defaults", nulls).await.text(), "0 7 eu Green None");
    let all = json!({ "count": 1, "most": 2, "region": "us", "colour": "red", "note": "n" });
    assert_eq!(call("defaults", all).await.text(), r#"1 2 us Red Some("n")"#);
}

#[tokio::test]
async fn null_is_no_value_of_a_required_argument() {
    assert!(call("everything", json!({ "x": null, "y": 1.0 })).await.failure().contains('x'));
    assert!(call("order", json!({ "order": null })).await.failure().contains("order"));
}

#[tokio::test]
async fn unknown_arguments_are_refused_unless_the_tool_ignores_them() {
    let text = call("text", json!({ "anything": 1 })).await.failure();
    assert!(text.contains("anything: unknown argument"), "{text}");
    assert_eq!(call("tolerant", json!({ "limit": 3, "other": {} })).await.text(), "Some(3)");
    let local = server();
    let tools = result(&local, Message::request("tools/list")).await;
    let tolerant = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "tolerant");
    assert_eq!(tolerant.unwrap()["inputSchema"].get("additionalProperties"), None);
}

#[tokio::test]
async fn an_endpoint_may_ignore_unknown_arguments_for_all_of_its_tools() {
    #[derive(Deserialize, JsonSchema)]
    struct One {
        one: u8,
    }
    let echo = Tool::new("echo").handler(async |Args(One { one }): Args<One>| one.to_string());
    let ignoring = endpoint().extra_arguments(mcp_runtime::registry::ExtraArguments::Ignore);
    let local = serving(ignoring.tool(echo));
    assert_eq!(local.send(&Message::call("echo", json!({ "one": 1, "two": 2 }))).await.text(), "1");
}

#[tokio::test]
async fn a_closure_refuses_unknown_arguments_like_a_function() {
    #[derive(Deserialize, JsonSchema)]
    struct One {
        #[serde(default)]
        one: u8,
    }
    let echo = Tool::new("echo").handler(async |Args(One { one }): Args<One>| one.to_string());
    let local = serving(endpoint().tool(echo));
    let text = local.send(&Message::call("echo", json!({ "onee": 1 }))).await.failure();
    assert!(text.contains("onee: unknown argument; did you mean `one`?"), "{text}");
}

/// An order that has the members of its way of delivery beside its own.
#[derive(Deserialize, JsonSchema)]
struct Delivery {
    name: String,
    #[serde(flatten)]
    way: Way,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "way", rename_all = "lowercase")]
enum Way {
    Post { address: String },
    Pickup { shelf: u8 },
}

#[tokio::test]
async fn names_that_are_flattened_into_the_arguments_are_known() {
    let deliver =
        Tool::new("deliver").handler(async |Args(Delivery { name, way }): Args<Delivery>| match way {
            Way::Post { address } => format!("{name} to {address}"),
            Way::Pickup { shelf } => format!("{name} on shelf {shelf}"),
        });
    let local = serving(endpoint().tool(deliver));
    for (arguments, text) in [
        (json!({ "name": "a", "way": "post", "address": "b" }), "a to b"),
        (json!({ "name": "a", "way": "pickup", "shelf": 7 }), "a on shelf 7"),
    ] {
        assert_eq!(local.send(&Message::call("deliver", arguments)).await.text(), text);
    }
}

#[tokio::test]
async fn a_plain_function_runs_on_the_blocking_pool() {
    let reply = call("blocking", json!({ "text": "from" })).await;
    assert!(reply.text().starts_with("from "), "{reply:?}");
}

#[tokio::test]
async fn all_arguments_may_be_one_value() {
    assert_eq!(call("everything", json!({ "x": 1.0, "y": 2.5 })).await.text(), "3.5");
}

/// Promises a number, and breaks the promise for 13.
#[derive(Serialize, JsonSchema)]
struct Promise {
    #[serde(serialize_with = "unlucky")]
    number: u8,
}

fn unlucky<S: serde::Serializer>(number: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        13 => Err(serde::ser::Error::custom("unlucky: hunter2")),
        number => serializer.serialize_u8(*number),
    }
}

#[tokio::test]
async fn an_output_that_can_not_be_json_is_a_hidden_failure() {
    #[derive(Deserialize, JsonSchema)]
    struct Which {
        number: u8,
    }
    let tool =
        Tool::new("promise").handler(async |Args(Which { number }): Args<Which>| Json(Promise { number }));
    let local = serving(endpoint().tool(tool));
    let reply = local.send(&Message::call("promise", json!({ "number": 1 }))).await;
    assert_eq!(reply.result()["structuredContent"], json!({ "number": 1 }));
    let reply = local.send(&Message::call("promise", json!({ "number": 13 }))).await;
    assert_eq!(reply.failure(), "internal error");
    assert!(!format!("{reply:?}").contains("hunter2"));
}
