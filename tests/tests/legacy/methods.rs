//! Every method of the older revisions.

use mcp_tests::Served;
use serde_json::{Value, json};

use super::{BOTH, JUNE, ask, assert_of, call, everything, request, result};

fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|item| item["name"].as_str().expect("a name")).collect()
}

#[tokio::test]
async fn everything_is_listed_and_nothing_else_is_in_a_list() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        for (method, member, expected) in [
            (
                "tools/list",
                "tools",
                &["echo", "say", "list", "work", "link", "ship", "demanding", "panics", "who"][..],
            ),
            ("prompts/list", "prompts", &["greet"]),
            ("resources/list", "resources", &["about"]),
            ("resources/templates/list", "resourceTemplates", &["item"]),
        ] {
            let page = ask(&served, revision, method, json!({})).await;
            assert_eq!(page.as_object().map(|members| members.len()), Some(1), "{page}");
            assert_eq!(names(&page[member]), expected);
            let refused = request(revision, method, json!({ "cursor": "none of ours" }));
            assert_eq!(served.send(&refused).await.refusal(), (200, -32602));
        }
    }
}

#[tokio::test]
async fn tools_resources_prompts_and_completions_are_served() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        let echo =
            ask(&served, revision, "tools/call", json!({ "name": "echo", "arguments": { "text": "hi" } }));
        assert_eq!(echo.await, json!({ "content": [{ "type": "text", "text": "hi" }] }));

        let about = ask(&served, revision, "resources/read", json!({ "uri": "legacy://about" })).await;
        let contents = json!([{ "uri": "legacy://about", "mimeType": "text/plain", "text": "about" }]);
        assert_eq!(about, json!({ "contents": contents }));
        let item = ask(&served, revision, "resources/read", json!({ "uri": "legacy://items/7" })).await;
        assert_eq!(item["contents"][0]["text"], "item 7");

        let greet =
            ask(&served, revision, "prompts/get", json!({ "name": "greet", "arguments": { "name": "Ada" } }));
        let message = json!({ "role": "user", "content": { "type": "text", "text": "Hello Ada" } });
        assert_eq!(greet.await["messages"], json!([message]));

        let reference = json!({ "type": "ref/prompt", "name": "greet" });
        let argument = json!({ "name": "name", "value": "" });
        let params = json!({ "ref": reference, "argument": argument });
        let completed = ask(&served, revision, "completion/complete", params).await;
        assert_eq!(completed, json!({ "completion": { "values": ["Ada"] } }));
        let argument = json!({ "name": "other", "value": "" });
        let params = json!({ "ref": reference, "argument": argument });
        let nothing = ask(&served, revision, "completion/complete", params).await;
        assert_eq!(nothing, json!({ "completion": { "values": [] } }));
    }
}

#[tokio::test]
async fn progress_comes_before_the_result_and_log_messages_not_at_all() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        let meta = json!({ "progressToken": "p", "io.modelcontextprotocol/logLevel": "debug" });
        let reply = served.send(&call(revision, "work", json!({})).set("/params/_meta", meta)).await;
        let events = reply.events();
        events.iter().for_each(|event| assert_of(revision, event));
        let (last, progress) = events.split_last().expect("events");
        assert_eq!(last["result"], json!({ "content": [{ "type": "text", "text": "worked" }] }));
        let expected = |done: u32| {
            let params = json!({ "progressToken": "p", "progress": done, "total": 3 });
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
        };
        assert_eq!(progress, [expected(1), expected(2), expected(3)]);

        // Nobody asks for it, and nobody can ask for log messages.
        let quiet = served.send(&call(revision, "work", json!({}))).await;
        assert_eq!(result(revision, &quiet), last["result"]);
        assert_eq!(quiet.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn what_needs_a_session_or_came_later_is_unknown() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        for method in [
            "server/discover",
            "subscriptions/listen",
            "logging/setLevel",
            "resources/subscribe",
            "resources/unsubscribe",
            "tasks/list",
            "anything/else",
        ] {
            let reply = served.send(&request(revision, method, json!({ "uri": "legacy://about" }))).await;
            assert_eq!(reply.refusal(), (200, -32601), "{method}");
            assert_eq!(reply.json()["id"], 1);
        }
    }
}

#[tokio::test]
async fn an_argument_that_has_a_header_needs_none() {
    let served = Served::start(everything()).await;
    for revision in BOTH {
        let ship = call(revision, "ship", json!({ "region": "eu", "anything": 1 }));
        for message in [ship.clone(), ship.header("mcp-param-region", "us")] {
            let reply = served.send(&message).await;
            assert_eq!(result(revision, &reply)["content"][0]["text"], r#"Some("eu") 1"#);
        }
    }
}

#[tokio::test]
async fn metadata_is_optional_and_its_token_checked() {
    let served = Served::start(everything()).await;
    for meta in [
        json!(null),
        json!([]),
        json!({ "progressToken": 1.5 }),
        json!({ "progressToken": "x".repeat(2000) }),
    ] {
        let message = call(JUNE, "work", json!({})).set("/params/_meta", meta);
        assert_eq!(served.send(&message).await.refusal(), (200, -32602));
    }
    let message = call(JUNE, "work", json!({})).set("/params/_meta", json!({ "other": 1 }));
    assert_eq!(served.send(&message).await.text(), "worked");
}
