//! Schemas: what they say is what is enforced, or the server is not built.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::endpoint;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{assert_one, faults, faults_of};

#[derive(Deserialize, JsonSchema)]
struct Range {
    #[schemars(range(min = 3))]
    level: u8,
}

fn levels() -> Tool {
    Tool::new("level").handler(async |Args(Range { level }): Args<Range>| level.to_string())
}

fn by_hand(schema: Value) -> Tool {
    Tool::new("tool").input_schema(schema).handler(async |_: Args<serde_json::Map<String, Value>>| "called")
}

#[cfg(not(feature = "constraints"))]
mod without_constraints {
    use super::*;

    #[test]
    fn a_keyword_that_nobody_would_enforce_is_named_with_the_feature() {
        assert_one(
            &faults_of(endpoint().tool(levels())),
            "level",
            &["`minimum`", "feature `constraints`", "cargo add"],
        );
    }

    #[test]
    fn a_schema_by_hand_needs_the_feature_if_it_says_anything() {
        let faults = faults_of(endpoint().tool(by_hand(json!({ "type": "object", "required": ["a"] }))));
        assert_one(&faults, "tool", &["`required`", "feature `constraints`"]);
        assert_eq!(faults_of(endpoint().tool(by_hand(json!({ "type": "string" })))).len(), 1);
    }
}

#[cfg(feature = "constraints")]
mod with_constraints {
    use mcp_tests::{Local, Message};

    use super::*;

    async fn call(tool: Tool, arguments: Value) -> mcp_tests::Reply {
        let name = if format!("{tool:?}").contains("level") { "level" } else { "tool" };
        Local::new(McpServer::builder().endpoint(endpoint().tool(tool)))
            .send(&Message::call(name, arguments))
            .await
    }

    #[tokio::test]
    async fn constraints_of_a_type_are_enforced() {
        assert_eq!(call(levels(), json!({ "level": 3 })).await.text(), "3");
        let text = call(levels(), json!({ "level": 2 })).await.failure();
        assert!(text.contains("- level:") && text.contains('3'), "{text}");
    }

    /// Constraints that look like the rules of other types.
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only read from JSON")]
    struct Lookalikes {
        #[schemars(range(min = 0))]
        like_unsigned: Option<i64>,
        #[schemars(range(max = 255))]
        like_a_byte: Option<u32>,
        #[schemars(range(min = 1))]
        like_non_zero: Option<u8>,
        #[schemars(length(equal = 2))]
        like_a_pair: Option<Vec<u8>>,
        #[schemars(length(equal = 1))]
        like_a_char: Option<String>,
        really_a_set: Option<std::collections::BTreeSet<u8>>,
    }

    #[tokio::test]
    async fn constraints_that_look_like_rules_of_types_are_enforced_as_well() {
        let tool = || Tool::new("level").handler(async |_: Args<Lookalikes>| "fits");
        for (name, fits, does_not) in [
            ("like_unsigned", json!(0), json!(-1)),
            ("like_a_byte", json!(255), json!(256)),
            ("like_non_zero", json!(1), json!(0)),
            ("like_a_pair", json!([1, 2]), json!([1, 2, 3])),
            ("like_a_char", json!("é"), json!("ab")),
            ("really_a_set", json!([1, 2]), json!([1, 1])),
        ] {
            assert_eq!(call(tool(), json!({ name: fits })).await.text(), "fits", "{name}");
            let text = call(tool(), json!({ name: does_not })).await.failure();
            assert!(text.contains(&format!("- {name}: ")), "{text}");
        }
    }

    #[tokio::test]
    async fn all_of_a_schema_by_hand_is_enforced() {
        let schema = json!({
            "type": "object",
            "properties": {
                "code": { "type": "string", "pattern": "^[a-z]+$" },
                "parts": { "type": "array", "items": { "type": "integer" }, "minItems": 1 },
            },
            "required": ["code"],
            "dependentRequired": { "parts": ["colour"] },
        });
        let call = async |arguments| call(by_hand(schema.clone()), arguments).await;
        assert_eq!(call(json!({ "code": "abc", "anything": 1 })).await.text(), "called");
        let text = call(json!({ "code": "ABC", "parts": [] })).await.failure();
        for part in ["- code:", "- parts:", "colour"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(
            call(json!({ "code": "abc", "parts": ["x"], "colour": 1 })).await.failure().contains("parts.0")
        );
    }

    #[tokio::test]
    async fn a_schema_by_hand_is_published_as_it_is() {
        let schema = json!({ "type": "object", "$comment": "kept", "not": { "required": ["never"] } });
        let local = Local::new(McpServer::builder().endpoint(endpoint().tool(by_hand(schema.clone()))));
        let tools = local.send(&Message::request("tools/list")).await.result();
        assert_eq!(tools["tools"][0]["inputSchema"], schema);
    }

    #[tokio::test]
    async fn null_counts_as_absent_for_a_validator_too() {
        #[derive(Deserialize, JsonSchema)]
        struct Optional {
            #[schemars(range(min = 1))]
            level: Option<u8>,
        }
        let tool =
            Tool::new("level").handler(async |Args(Optional { level }): Args<Optional>| format!("{level:?}"));
        assert_eq!(call(tool, json!({ "level": null })).await.text(), "None");
    }

    /// A number that says that it is above 10, and may not be.
    #[derive(serde::Serialize, JsonSchema)]
    struct Promise {
        #[schemars(range(min = 11))]
        number: u8,
    }

    #[tokio::test]
    async fn a_result_that_breaks_its_own_schema_is_an_internal_error() {
        let tool = |number| Tool::new("tool").handler(move || async move { Json(Promise { number }) });
        assert_eq!(call(tool(11), json!({})).await.result()["structuredContent"], json!({ "number": 11 }));
        let reply = call(tool(10), json!({})).await;
        assert_eq!(reply.refusal(), (500, -32603));
        assert_eq!(reply.error()["message"], "internal error");
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        let faults = faults_of(endpoint().tool(by_hand(json!({ "type": "object", "minProperties": "two" }))));
        assert_one(&faults, "tool", &["schema is not valid"]);
    }
}

#[test]
fn the_input_of_a_tool_is_an_object() {
    for schema in [json!({}), json!({ "type": "string" }), json!({ "type": ["object", "null"] }), json!(true)]
    {
        assert_one(&faults_of(endpoint().tool(by_hand(schema))), "tool", &["\"type\": \"object\""]);
    }
    let text = Tool::new("tool").handler(async |Args(text): Args<String>| text);
    assert_one(&faults_of(endpoint().tool(text)), "tool", &["object"]);
}

#[test]
fn nothing_is_fetched_for_a_schema() {
    let schema = json!({ "type": "object", "properties": { "a": { "$ref": "https://example.com/a.json" } } });
    let faults = faults_of(endpoint().tool(by_hand(schema)));
    assert_one(&faults, "tool", &["`https://example.com/a.json`", "within the schema"]);
}

#[test]
fn mirrored_headers_are_checked_in_a_schema_by_hand() {
    let property = |schema: Value| json!({ "type": "object", "properties": { "a": schema } });
    for (schema, says) in [
        (property(json!({ "type": "string", "x-mcp-header": "" })), "no header name"),
        (property(json!({ "type": "string", "x-mcp-header": "a b" })), "no header name"),
        (property(json!({ "type": "number", "x-mcp-header": "A" })), "a string, an integer or a boolean"),
        (
            property(json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "A" } })),
            "not reached by `properties` alone",
        ),
        (
            json!({ "type": "object", "properties": {
                "a": { "type": "string", "x-mcp-header": "Same" },
                "b": { "type": "string", "x-mcp-header": "sAME" },
            } }),
            "two arguments are mirrored",
        ),
    ] {
        assert_one(&faults_of(endpoint().tool(by_hand(schema))), "tool", &[says]);
    }
}

#[test]
fn arguments_as_one_value_stand_alone() {
    let two = Tool::new("tool").handler(async |_: Args<Range>, _: Args<Range>| "x");
    let faults = faults(McpServer::builder().endpoint(endpoint().tool(two)));
    assert!(faults.iter().any(|fault| fault.message.contains("Args")), "{faults:#?}");
}
