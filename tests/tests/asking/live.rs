//! The same handlers for clients of the older revisions, which are asked while the handler waits. So far that is
//! within the process; over HTTP and stdio such a client can't be asked yet.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::SeqCst},
};

use mcp_runtime::prelude::*;
use mcp_tests::{Local, Message};
use serde_json::json;

use crate::{Consent, Guest, builder, client, consenting};

const OLDER: [Revision; 2] = [Revision::V2025_11_25, Revision::V2025_06_18];

#[tokio::test(start_paused = true)]
async fn the_handler_waits_and_runs_once() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let tool = Tool::new("two").handler(move |ask: Ask| {
        counted.fetch_add(1, SeqCst);
        async move {
            ask.keep(&"kept")?;
            let guest = ask.elicit::<Guest>("guest", "Who?").await;
            let (consent, roots) =
                tokio::join!(ask.elicit::<Consent>("consent", "Sure?"), ask.roots("roots"));
            let kept: Option<String> = ask.kept();
            Ok::<_, ToolError>(format!("{guest:?} {consent:?} {} {kept:?} {}", roots.len(), ask.round()))
        }
    });
    let client = client(tool);
    for (done, revision) in OLDER.into_iter().enumerate() {
        let response = client
            .clone()
            .revision(revision)
            .call("two")
            .answer("guest", json!({ "name": "Ada", "seats": 2 }))
            .decline("consent")
            .answer("roots", ["file:///a", "file:///b"])
            .await
            .unwrap();
        assert_eq!(
            response.text(),
            "Accepted(Guest { name: \"Ada\", seats: 2 }) Declined 2 Some(\"kept\") 0"
        );
        assert_eq!(runs.load(SeqCst) as usize, done + 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_is_asked_for_again() {
    let client = client(consenting()).revision(Revision::V2025_11_25);
    let response =
        client.call("consent").respond("confirm", 5).answer("confirm", json!({ "ok": true })).await.unwrap();
    assert_eq!(response.text(), "ok: true");
    assert_eq!(response.asked().len(), 2);
    // But not for ever.
    let error = client.call("consent").respond("confirm", 5).await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (-32602, "no answer to `confirm` fits"));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_fails_to_answer_ends_the_call() {
    let client = client(consenting()).revision(Revision::V2025_11_25);
    let error = client.call("consent").decline("something else").await.unwrap_err();
    assert!(error.message.contains("`confirm`"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn progress_goes_on_around_an_ask() {
    let tool = Tool::new("slow").asks(Capabilities { elicitation: true, ..Capabilities::NONE }).handler(
        |ask: Ask, progress: Option<ProgressReporter>| async move {
            progress.report(1).await?;
            let answer = ask.elicit::<Consent>("confirm", "Go on?").await;
            progress.report(2).await?;
            Ok::<_, ToolError>(format!("{answer:?}"))
        },
    );
    let client = client(tool).revision(Revision::V2025_11_25);
    let response = client.call("slow").with_progress().decline("confirm").await.unwrap();
    assert_eq!((response.text().as_str(), response.progress().len()), ("Declined", 2));
}

#[tokio::test(start_paused = true)]
async fn who_cannot_be_asked_is_told_so() {
    let client = client(consenting()).revision(Revision::V2025_11_25);
    let error = client.call("consent").await.unwrap_err();
    assert_ne!(error.code, -32021, "the older revisions have no such code");
    assert!(error.message.contains("elicitation"), "{error}");

    // Over HTTP a client of an older revision can't be asked, whatever it can do.
    let message = Message::call("consent", json!({}))
        .header("mcp-protocol-version", "2025-11-25")
        .unset("/params/_meta")
        .set("/params/requestState", "x");
    let reply = Local::new(builder(consenting())).send(&message).await;
    let error = json!({ "code": -32603, "message": "clients of 2025-11-25 can't be asked here, and it takes: elicitation" });
    assert_eq!((reply.status, reply.error()), (200, error));

    let forms = Capabilities { elicitation: true, ..Capabilities::NONE };
    let needy = Tool::new("consent").requires(forms).handler(|| async { "done" });
    let reply = Local::new(builder(needy)).send(&message).await;
    assert_eq!((reply.status, reply.error()["code"].clone()), (200, json!(-32602)));
    let told = "what clients of 2025-11-25 can do is not known here, and it takes: elicitation";
    assert_eq!(reply.error()["message"], told);
}

#[tokio::test(start_paused = true)]
async fn who_has_declared_it_and_cannot_be_asked_is_not_told_to_declare_it() {
    let client = client(consenting());
    let info = json!({ "name": "old", "version": "1" });
    let introduction = json!({
        "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} }, "clientInfo": info,
    });
    for (method, params) in [("initialize", introduction), ("tools/call", json!({ "name": "consent" }))] {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = client.raw(message.to_string()).await;
        if method == "tools/call" {
            let message = "clients of 2025-11-25 can't be asked here, and it takes: elicitation";
            assert_eq!(answer[0]["error"], json!({ "code": -32603, "message": message }));
        }
    }
}
