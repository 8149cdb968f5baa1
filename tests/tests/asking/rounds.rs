//! What a handler gets from its asks, and how often it runs.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU32, Ordering::SeqCst},
};

use mcp_runtime::{prelude::*, protocol::Role};
use mcp_tests::{CAPABILITIES, Local, Message, seconds};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::sleep;

use crate::{Consent, Guest, builder, client, consenting};

#[tokio::test(start_paused = true)]
async fn an_answer_comes_back_to_the_ask() {
    let client = client(consenting());
    let yes = client.call("consent").answer("confirm", json!({ "ok": true })).await.unwrap();
    assert_eq!(yes.text(), "ok: true");
    assert_eq!(client.call("consent").decline("confirm").await.unwrap().text(), "declined");
    assert_eq!(client.call("consent").dismiss("confirm").await.unwrap().text(), "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_yes_or_no_needs_no_form() {
    let tool = Tool::new("go").handler(|ask: Ask| async move {
        ask.confirm("go", "Shall we?").await.accepted().ok_or("they said no")?;
        Ok::<_, ToolError>("gone")
    });
    let client = client(tool);
    let went = client.call("go").answer("go", json!({})).await.unwrap();
    assert_eq!(went.text(), "gone");
    let [asked] = went.asked() else { panic!("{:?}", went.asked()) };
    assert_eq!((asked.key.as_str(), asked.message()), ("go", Some("Shall we?")));
    assert_eq!(asked.request["params"]["requestedSchema"], json!({ "type": "object", "properties": {} }));
    assert_eq!(client.call("go").respond("go", json!({ "action": "accept" })).await.unwrap().text(), "gone");
    assert!(client.call("go").decline("go").await.unwrap().is_error());
}

#[tokio::test(start_paused = true)]
async fn the_handler_runs_again_from_the_start() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let tool = Tool::new("two").handler(move |ask: Ask| {
        let counted = Arc::clone(&counted);
        async move {
            let run = counted.fetch_add(1, SeqCst);
            assert_eq!(ask.round(), run, "the round is told");
            let first = ask.elicit::<Consent>("first", "One?").await;
            let second = ask.elicit::<Consent>("second", "Two?").await;
            format!("{first:?} {second:?}")
        }
    });
    let client = client(tool);
    let response = client.call("two").answer("first", json!({ "ok": true })).decline("second").await.unwrap();
    assert_eq!(response.text(), "Accepted(Consent { ok: true }) Declined");
    assert_eq!(runs.load(SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn asks_that_are_made_together_are_one_round() {
    let rounds = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&rounds);
    let tool = Tool::new("all").handler(move |ask: Ask| {
        let counted = Arc::clone(&counted);
        async move {
            counted.fetch_add(1, SeqCst);
            let (guest, consent, url, words, roots) = tokio::join!(
                ask.elicit::<Guest>("guest", "Who?"),
                ask.elicit::<Consent>("consent", "Really?"),
                ask.elicit_url("login", "Log in, please.", "https://example.com/login"),
                ask.sample("words", Sampling::new(10).user("Say something.")),
                ask.roots("roots"),
            );
            assert_eq!(words.role, Role::Assistant);
            format!("{guest:?} {consent:?} {url:?} {} {}", words.text(), roots[0].uri)
        }
    });
    let client = client(tool);
    let response = client
        .call("all")
        .answer("guest", json!({ "name": "Ada", "seats": 2.0, "unknown": 1 }))
        .decline("consent")
        .answer("login", ())
        .answer("words", "Something.")
        .answer("roots", ["file:///home"])
        .await
        .unwrap();
    assert_eq!(
        response.text(),
        "Accepted(Guest { name: \"Ada\", seats: 2 }) Declined Accepted(()) Something. file:///home"
    );
    assert_eq!(rounds.load(SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn nothing_swallows_an_ask() {
    let tool = Tool::new("stubborn").handler(|ask: Ask| async move {
        let asked = async { Ok::<_, ToolError>(ask.elicit::<Consent>("confirm", "Go on?").await) };
        let answer = asked.await.ok().or(None).and_then(Elicited::accepted);
        format!("{answer:?}")
    });
    let client = client(tool);
    let asked = client.call("stubborn").capabilities(json!({ "elicitation": {} })).untyped().await.unwrap();
    assert_eq!(asked.result()["resultType"], "input_required");
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_ask_is_no_cancellation() {
    let reasons = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&reasons);
    let tool = Tool::new("quiet").handler(move |ask: Ask, token: CancellationToken| {
        let told = Arc::clone(&told);
        token.on_cancel(move |reason| told.lock().unwrap().push(reason)).detach();
        async move { format!("{:?}", ask.elicit::<Consent>("confirm", "Go on?").await) }
    });
    let client = client(tool);
    assert_eq!(client.call("quiet").decline("confirm").await.unwrap().text(), "Declined");
    assert_eq!(*reasons.lock().unwrap(), []);
}

#[tokio::test(start_paused = true)]
async fn answers_that_do_not_fit_are_asked_for_again() {
    let tool = Tool::new("seats")
        .handler(|ask: Ask| async move { format!("{:?}", ask.elicit::<Guest>("guest", "Who?").await) });
    let client = client(tool);
    let response = client
        .call("seats")
        .respond("guest", 12345)
        .respond("guest", json!({ "action": "accept" }))
        .respond("guest", json!({ "action": "maybe", "content": { "name": "Ada", "seats": 2 } }))
        .answer("guest", json!({ "name": "Ada", "seats": 9 }))
        .answer("guest", json!({ "name": "Ada" }))
        .answer("guest", json!({ "name": 5, "seats": 1 }))
        .answer("guest", json!({ "name": "Ada", "seats": 8 }))
        .await
        .unwrap();
    assert_eq!(response.text(), "Accepted(Guest { name: \"Ada\", seats: 8 })");
}

#[tokio::test(start_paused = true)]
async fn an_answer_belongs_to_the_question_that_was_asked() {
    let price = Arc::new(AtomicU32::new(10));
    let now = Arc::clone(&price);
    let tool = Tool::new("buy").handler(move |ask: Ask| {
        let price = now.fetch_add(5, SeqCst).min(20);
        async move {
            let bought = ask.elicit::<Consent>("confirm", format!("Buy for {price}?")).await;
            format!("{bought:?} for {price}")
        }
    });
    let client = client(tool);
    let response = client.call("buy").answer("confirm", json!({ "ok": true })).await.unwrap();
    let asked: Vec<_> = response.asked().iter().filter_map(|asked| asked.message()).collect();
    assert_eq!(asked, ["Buy for 10?", "Buy for 15?", "Buy for 20?"]);
    // 10 and 15 were agreed to, and cost more by then.
    assert_eq!(response.text(), "Accepted(Consent { ok: true }) for 20");
}

#[derive(Debug, Serialize, Deserialize)]
struct Draft {
    number: u32,
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_there_in_the_next_round() {
    let made = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&made);
    let tool = Tool::new("draft").handler(move |ask: Ask| {
        let count = Arc::clone(&count);
        async move {
            let draft = match ask.kept::<Draft>() {
                Some(draft) => draft,
                None => Draft { number: 7 + count.fetch_add(1, SeqCst) },
            };
            ask.keep(&draft)?;
            let ok = ask.elicit::<Consent>("confirm", format!("Send draft {}?", draft.number)).await;
            let again = ask.elicit::<Consent>("again", "Sure?").await;
            let other = ask.kept::<Vec<String>>();
            Ok::<_, ToolError>(format!("{} {ok:?} {again:?} {other:?}", draft.number))
        }
    });
    let client = client(tool);
    let response = client.call("draft").decline("confirm").dismiss("again").await.unwrap();
    assert_eq!(response.text(), "7 Declined Cancelled None");
    assert_eq!(made.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_discarded_answer_is_asked_for_again() {
    let paid = Arc::new(AtomicU32::new(0));
    let polled = Arc::clone(&paid);
    let tool = Tool::new("pay").handler(move |ask: Ask| {
        let polled = Arc::clone(&polled);
        async move {
            let url = "https://example.com/pay";
            while ask.elicit_url("pay", "Please pay.", url).await == Elicited::Accepted(()) {
                // The person comes back twice before they have paid.
                if polled.fetch_add(1, SeqCst) == 2 {
                    return "paid";
                }
                ask.discard("pay");
            }
            "not paid"
        }
    });
    let client = client(tool);
    assert_eq!(client.call("pay").answer("pay", ()).await.unwrap().text(), "paid");
    assert_eq!(client.call("pay").decline("pay").await.unwrap().text(), "not paid");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_came_early_is_kept() {
    // In the second round another question comes first.
    let tool = Tool::new("winding").handler(|ask: Ask| async move {
        if ask.round() == 1 {
            let _ = ask.elicit::<Consent>("detour", "A detour?").await;
        }
        format!("{:?}", ask.elicit::<Consent>("goal", "The goal?").await)
    });
    let client = client(tool);
    let response = client
        .call("winding")
        .answer("goal", json!({ "ok": true }))
        .respond("goal", "never asked for again")
        .decline("detour")
        .await
        .unwrap();
    assert_eq!(response.text(), "Accepted(Consent { ok: true })");
}

#[tokio::test(start_paused = true)]
async fn a_task_of_the_handler_may_ask() {
    let tool = Tool::new("spawning").handler(|ask: Ask| async move {
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move {
            sleep(seconds(3)).await;
            ask.elicit::<Consent>("confirm", "Go on?").await
        });
        format!("{:?}", tasks.join_next().await.unwrap().unwrap())
    });
    let client = client(tool);
    assert_eq!(client.call("spawning").decline("confirm").await.unwrap().text(), "Declined");
}

#[tokio::test(start_paused = true)]
async fn progress_before_an_ask_is_told_in_every_round() {
    let tool = Tool::new("slow").handler(|ask: Ask, progress: Option<ProgressReporter>| async move {
        progress.report(1).await?;
        sleep(seconds(1)).await;
        let answer = ask.elicit::<Consent>("confirm", "Go on?").await;
        progress.report(2).await?;
        Ok::<_, ToolError>(format!("{answer:?}"))
    });
    let client = client(tool);
    let response = client.call("slow").with_progress().decline("confirm").await.unwrap();
    assert_eq!(response.text(), "Declined");
    let told: Vec<f64> = response.progress().iter().map(|update| update.progress).collect();
    assert_eq!(told, [1.0, 1.0, 2.0]);
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_ends_while_it_asks_has_ended() {
    let tool = Tool::new("impatient").handler(|ask: Ask| async move {
        tokio::select! {
            biased;
            answer = ask.elicit::<Consent>("confirm", "Go on?") => format!("{answer:?}"),
            () = std::future::ready(()) => "done without".to_owned(),
        }
    });
    let client = client(tool);
    let response = client.call("impatient").capabilities(json!({ "elicitation": {} })).await.unwrap();
    assert_eq!(response.text(), "done without");
}

#[tokio::test(start_paused = true)]
async fn a_form_of_the_run_time_is_checked_too() {
    let tool = Tool::new("vote").handler(|ask: Ask| async move {
        let form = Form::from_schema(json!({
            "type": "object", "required": ["of"],
            "properties": { "of": { "type": "string", "enum": ["a", "b"] } },
        }))?;
        Ok::<_, ToolError>(format!("{:?}", ask.elicit_form("vote", "Which?", &form).await))
    });
    let client = client(tool);
    let response = client
        .call("vote")
        .answer("vote", json!({ "of": "c" }))
        .answer("vote", json!({ "of": "b", "more": 1 }))
        .await
        .unwrap();
    assert_eq!(response.text(), r#"Accepted({"of": String("b")})"#);
}

#[tokio::test(start_paused = true)]
async fn prompts_and_resources_ask_as_tools_do() {
    let asking = |ask: Ask| async move { format!("{:?}", ask.elicit::<Consent>("confirm", "Go on?").await) };
    let public = CacheHint { ttl: seconds(60), scope: CacheScope::Public };
    let endpoint = mcp_tests::endpoint()
        .prompt(Prompt::new("greet").handler(asking))
        .resource(Resource::new("a://b", "b").cache(public).handler(asking))
        .resource(Resource::new("c://{d}", "d").cache(public).handler(
            async |Args(Id { d }): Args<Id>, ask: Ask| {
                format!("{d} {:?}", ask.elicit::<Consent>("confirm", "Go on?").await)
            },
        ));
    let server = McpServer::builder().endpoint(endpoint).build().unwrap();
    let client = mcp_runtime::testing::Client::new(&server);
    assert_eq!(client.prompt("greet").decline("confirm").await.unwrap().text(), "Declined");
    let read = client.read("a://b").decline("confirm").await.unwrap();
    assert_eq!(read.text(), "Declined");
    // What was asked for is for nobody else (specification: `server/utilities/caching`).
    assert_eq!((&read.result()["ttlMs"], &read.result()["cacheScope"]), (&json!(0), &json!("private")));
    assert_eq!(client.read("c://x").dismiss("confirm").await.unwrap().text(), "x Cancelled");
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Id {
    d: String,
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_discarded_makes_way_for_the_next_of_its_key() {
    let tool = Tool::new("wavering").handler(|ask: Ask| async move {
        tokio::select! {
            biased;
            _ = ask.elicit::<Consent>("confirm", "One?") => {}
            () = async {} => ask.discard("confirm"),
        }
        format!("{:?}", ask.elicit::<Consent>("confirm", "Two?").await)
    });
    let local = Local::new(builder(tool));
    let call = Message::call("wavering", json!({})).meta(CAPABILITIES, json!({ "elicitation": {} }));
    let reply = local.send(&call).await;
    // A key that stood there twice would not be seen in a parsed value.
    let written = String::from_utf8(reply.body).unwrap();
    assert!(written.contains("Two?") && !written.contains("One?"), "{written}");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_asks_when_its_client_is_gone_has_ended() {
    let asks = Capabilities { elicitation: true, ..Capabilities::NONE };
    let tool =
        Tool::new("late").asks(asks).handler(|ask: Ask, progress: Option<ProgressReporter>| async move {
            progress.report(1).await?;
            sleep(seconds(2)).await;
            Ok::<_, ToolError>(format!("{:?}", ask.elicit::<Consent>("confirm", "Go on?").await))
        });
    let local = Local::new(builder(tool).cancellation_grace(None));
    let call = Message::call("late", json!({})).meta(CAPABILITIES, json!({ "elicitation": {} }));
    for call in [call.clone(), call.progress_token("p")] {
        let gone = tokio::time::timeout(seconds(1), local.send(&call)).await;
        assert!(gone.is_err());
        assert_eq!(local.handle().running(), 1, "it has its own time to end");
        sleep(seconds(2)).await;
        assert_eq!(local.handle().running(), 0);
    }
}
