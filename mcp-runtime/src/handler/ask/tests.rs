//! Whatever a handler asks, and however its client answers: nothing is asked twice, and everything comes back.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value, json};

use crate::{
    prelude::*,
    testing::{Client, Response},
};

/// What a handler asks: one thing after the other, or two at once.
type Script = Vec<(u8, Option<u8>)>;

fn key(number: u8) -> String {
    format!("key-{number}")
}

async fn ask_for(ask: &Ask, number: u8) -> (u8, i64) {
    let form = Form::from_schema(json!({
        "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } },
    }));
    let answer = ask.elicit_form(&key(number), format!("{number}?"), &form.unwrap()).await;
    (number, answer.accepted().and_then(|answer| answer["n"].as_i64()).unwrap_or(-1))
}

fn client(script: Script) -> Client {
    let tool = Tool::new("ask").handler(move |ask: Ask| {
        let script = script.clone();
        async move {
            let mut found = BTreeMap::new();
            for (one, other) in script {
                match other {
                    None => found.extend([ask_for(&ask, one).await]),
                    Some(other) => {
                        found.extend(<[_; 2]>::from(tokio::join!(ask_for(&ask, one), ask_for(&ask, other))))
                    }
                }
            }
            serde_json::to_string(&found).unwrap()
        }
    });
    let server =
        McpServer::builder().endpoint(Endpoint::builder("/mcp").tool(tool)).max_input_rounds(1000).build();
    Client::new(&server.unwrap()).capabilities(json!({ "elicitation": {} }))
}

/// A script whose keys differ.
fn script() -> impl Strategy<Value = Script> {
    vec(any::<bool>(), 1..8).prop_map(|pairs| {
        let mut next = 0..;
        let mut key = || next.next().unwrap_or_default();
        pairs.into_iter().map(|pair| (key(), pair.then(&mut key))).collect()
    })
}

async fn send(client: &Client, responses: &Map<String, Value>, state: &Value) -> Response {
    let mut params = json!({ "name": "ask", "arguments": {}, "inputResponses": responses });
    if !state.is_null() {
        params["requestState"] = state.clone();
    }
    client.request("tools/call", params).await.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_comes_back_and_none_is_asked_for_again(script in script(), answers in vec(any::<(bool, bool)>(), 40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let client = client(script.clone());
            let (mut responses, mut state) = (Map::new(), Value::Null);
            let (mut given, mut answers) = (BTreeSet::new(), answers.into_iter());
            let result = loop {
                let response = send(&client, &responses, &state).await;
                if response.result()["resultType"] == "complete" {
                    break response.into_result();
                }
                responses = Map::new();
                state = response.result()["requestState"].clone();
                for (key, request) in response.result()["inputRequests"].as_object().unwrap() {
                    prop_assert!(!given.contains(key), "{} was answered", key);
                    // Some answers are left out, and some are wrong; in the end all are given.
                    let (there, right) = answers.next().unwrap_or((true, true));
                    let number: i64 = request["params"]["message"].as_str().unwrap().trim_end_matches('?').parse().unwrap();
                    let n = if right { json!(number * 10) } else { json!("wrong") };
                    if there {
                        responses.insert(key.clone(), json!({ "action": "accept", "content": { "n": n } }));
                    }
                    if there && right {
                        given.insert(key.clone());
                    }
                }
            };
            let keys: BTreeSet<u8> = script.iter().flat_map(|(one, other)| std::iter::once(*one).chain(*other)).collect();
            let expected: BTreeMap<u8, i64> = keys.into_iter().map(|key| (key, i64::from(key) * 10)).collect();
            prop_assert_eq!(&result["content"][0]["text"], &json!(serde_json::to_string(&expected).unwrap()));
            Ok(())
        })?;
    }
}
