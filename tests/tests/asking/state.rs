//! What becomes of a state that is not what it was, or not where it belongs: always the same refusal.

use mcp_runtime::{
    prelude::*,
    request_state::{InMemorySingleUse, ProtectorError, StateContext, StateProtector},
};
use mcp_tests::{CAPABILITIES, Local, Message, endpoint, seconds};
use serde_json::{Value, json};
use tokio::time::advance;

use crate::{Consent, builder, client, consenting, key, keys};

/// What every refused state is answered with.
const REFUSED: &str = "the request state is not valid here: begin again without it";

fn call(tool: &str) -> Message {
    able(Message::call(tool, json!({})))
}

fn able(message: Message) -> Message {
    message.meta(CAPABILITIES, json!({ "elicitation": {} }))
}

/// The retry of a request, with a state and the answer yes.
fn retry(message: Message, state: &str) -> Message {
    let yes = json!({ "confirm": { "action": "accept", "content": { "ok": true } } });
    message.id(2).set("/params/requestState", state).set("/params/inputResponses", yes)
}

async fn state_of(local: &Local, message: &Message) -> String {
    let asked = local.send(message).await.json();
    let state = asked["result"]["requestState"].as_str();
    state.unwrap_or_else(|| panic!("no state: {asked}")).to_owned()
}

async fn refused(local: &Local, message: &Message) {
    let reply = local.send(message).await;
    let answer = reply.json();
    assert_eq!(
        (reply.status, &answer["error"]),
        (200, &json!({ "code": -32602, "message": REFUSED })),
        "{answer}"
    );
}

async fn taken(local: &Local, message: &Message) {
    let answer = local.send(message).await.json();
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_state_that_was_changed_is_refused() {
    let local = Local::new(builder(consenting()));
    let state = state_of(&local, &call("consent")).await;
    taken(&local, &retry(call("consent"), &state)).await;
    for at in 0..state.len() {
        let mut changed = state.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        refused(&local, &retry(call("consent"), std::str::from_utf8(&changed).unwrap())).await;
        refused(&local, &retry(call("consent"), &state[..at])).await;
    }
    for changed in
        [format!("{state}A"), format!("{state}="), format!(" {state}"), format!("{state}-TAMPERED")]
    {
        refused(&local, &retry(call("consent"), &changed)).await;
    }
    refused(&local, &retry(call("consent"), &"A".repeat(100_000))).await;
}

#[tokio::test(start_paused = true)]
async fn a_state_belongs_to_its_request() {
    let asking = |ask: Ask| async move { format!("{:?}", ask.elicit::<Consent>("confirm", "Go on?").await) };
    let one = endpoint()
        .tool(Tool::new("a").extra_arguments(mcp_runtime::registry::ExtraArguments::Ignore).handler(asking))
        .tool(Tool::new("b").handler(asking))
        .prompt(Prompt::new("a").handler(asking))
        .resource(Resource::new("x://a", "a").handler(asking));
    let two = Endpoint::builder("/two").name("two").version("1").tool(Tool::new("a").handler(asking));
    let server = McpServer::builder().endpoint(one).endpoint(two).request_state_protector(keys("a", 1));
    let local = Local::guarded(server.admission(Named));
    let state = state_of(&local, &call("a")).await;
    taken(&local, &retry(call("a"), &state)).await;
    for other in [
        call("b"),
        able(Message::prompt("a", json!({}))),
        able(Message::read("x://a")),
        call("a").path("/two"),
        call("a").set("/params/arguments", json!({ "x": 1 })),
        call("a").header("x-name", "ada"),
    ] {
        refused(&local, &retry(other, &state)).await;
    }
    let adas = state_of(&local, &call("a").header("x-name", "ada")).await;
    taken(&local, &retry(call("a").header("x-name", "ada"), &adas)).await;
    refused(&local, &retry(call("a").header("x-name", "bob"), &adas)).await;
    refused(&local, &retry(call("a"), &adas)).await;
}

/// Admits whoever names themselves.
struct Named;

impl Admission for Named {
    async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        let name = request.headers().get("x-name").and_then(|name| name.to_str().ok());
        Ok(name.map_or_else(Caller::anonymous, Caller::identified))
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_request_written_otherwise_is_the_same() {
    let tool = Tool::new("a")
        .extra_arguments(mcp_runtime::registry::ExtraArguments::Ignore)
        .handler(|ask: Ask| async move { format!("{:?}", ask.elicit::<Consent>("confirm", "Go on?").await) });
    let local = Local::new(builder(tool));
    let first = call("a").set("/params/arguments", json!({ "x": { "b": "\u{e9}", "a": [1, 2] }, "y": null }));
    let state = state_of(&local, &first).await;
    let again = call("a")
        .set("/params/arguments", json!({ "y": null, "x": { "a": [1, 2], "b": "é" } }))
        .progress_token("p")
        .meta("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    taken(&local, &retry(again, &state)).await;
}

#[tokio::test(start_paused = true)]
async fn a_state_ends_and_every_round_counts_from_the_first() {
    let tool = Tool::new("two").handler(|ask: Ask| async move {
        let first = ask.elicit::<Consent>("confirm", "One?").await;
        format!("{first:?} {:?}", ask.elicit::<Consent>("second", "Two?").await)
    });
    let local = Local::new(builder(tool).request_state_lifetime(seconds(60)));
    let first = state_of(&local, &call("two")).await;
    advance(seconds(40)).await;
    let second = state_of(&local, &retry(call("two"), &first)).await;
    advance(seconds(15)).await;
    state_of(&local, &retry(call("two"), &second).id(3)).await;
    advance(seconds(6)).await;
    refused(&local, &retry(call("two"), &second).id(3)).await;
    refused(&local, &retry(call("two"), &first)).await;
}

#[tokio::test(start_paused = true)]
async fn a_retry_has_an_id_of_its_own() {
    let local = Local::new(builder(consenting()));
    let state = state_of(&local, &call("consent").id(7)).await;
    refused(&local, &retry(call("consent"), &state).id(7)).await;
    taken(&local, &retry(call("consent"), &state).id("7")).await;
}

#[tokio::test(start_paused = true)]
async fn rounds_are_counted() {
    let local = Local::new(builder(consenting()).max_input_rounds(3));
    let mut state = state_of(&local, &call("consent")).await;
    for round in 2..=3 {
        let unanswered = call("consent").id(round).set("/params/requestState", state.as_str());
        state = state_of(&local, &unanswered).await;
    }
    let last = call("consent").id(4).set("/params/requestState", state.as_str());
    let answer = local.send(&last).await.json();
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("too many rounds"), "{answer}");
    taken(&local, &retry(call("consent"), &state)).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_too_large_to_keep_is_the_servers_failure() {
    let tool = Tool::new("large").handler(|ask: Ask| async move {
        ask.keep(&"x".repeat(2000))?;
        Ok::<_, ToolError>(format!("{:?}", ask.elicit::<Consent>("confirm", "Go on?").await))
    });
    let local = Local::new(builder(tool).max_request_state_bytes(2000));
    let reply = local.send(&call("large")).await;
    assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (500, json!(-32603)));
    assert_eq!(reply.json()["error"]["message"], "internal error");
}

#[tokio::test(start_paused = true)]
async fn keys_change_without_a_pause() {
    let ring = keys("old", 1);
    let local = Local::new(builder(consenting()).request_state_protector(ring.clone()));
    let old = state_of(&local, &call("consent")).await;
    ring.stage(key("new", 2)).unwrap();
    ring.activate("new").unwrap();
    let new = state_of(&local, &call("consent")).await;
    taken(&local, &retry(call("consent"), &old)).await;
    taken(&local, &retry(call("consent"), &new)).await;
    ring.retire("old").unwrap();
    refused(&local, &retry(call("consent"), &old)).await;
    taken(&local, &retry(call("consent"), &new)).await;
    let other = Local::new(builder(consenting()).request_state_protector(keys("new", 3)));
    refused(&other, &retry(call("consent"), &new)).await;
}

#[tokio::test(start_paused = true)]
async fn a_state_that_is_used_once_is_used_up() {
    let local = Local::new(builder(consenting()).single_use_request_states(InMemorySingleUse::new(2)));
    let [first, second, third] = [
        state_of(&local, &call("consent")).await,
        state_of(&local, &call("consent")).await,
        state_of(&local, &call("consent")).await,
    ];
    taken(&local, &retry(call("consent"), &first)).await;
    refused(&local, &retry(call("consent"), &first).id(3)).await;
    taken(&local, &retry(call("consent"), &second)).await;
    // There is no room for a third before the others have expired: it fails closed.
    let full = local.send(&retry(call("consent"), &third)).await;
    assert_eq!((full.status, full.json()["error"]["code"].clone()), (503, json!(-32603)));
}

#[tokio::test(start_paused = true)]
async fn who_finds_no_room_keeps_their_state() {
    let endpoint = endpoint().tool(consenting()).tool(Tool::new("hang").handler(|| async {
        tokio::time::sleep(seconds(5)).await;
        "done"
    }));
    let server = McpServer::builder()
        .endpoint(endpoint)
        .request_state_protector(keys("a", 1))
        .single_use_request_states(InMemorySingleUse::new(10))
        .max_concurrent_handlers(1)
        .max_blocking_handlers(1)
        .handler_queue(0);
    let local = Local::new(server);
    let state = state_of(&local, &call("consent")).await;
    let hanging = tokio::spawn({
        let local = local.clone();
        async move { local.send(&call("hang").id(9)).await }
    });
    tokio::time::sleep(seconds(1)).await;
    let full = local.send(&retry(call("consent"), &state)).await;
    assert_eq!((full.status, full.json()["error"]["code"].clone()), (503, json!(-32603)));
    hanging.await.unwrap();
    taken(&local, &retry(call("consent"), &state).id(3)).await;
    refused(&local, &retry(call("consent"), &state).id(4)).await;
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_too_much_to_keep_are_the_clients_doing() {
    let tool = Tool::new("two").handler(|ask: Ask| async move {
        let first = ask.elicit::<Consent>("confirm", "One?").await;
        format!("{first:?} {:?}", ask.elicit::<Consent>("second", "Two?").await)
    });
    let local = Local::new(builder(tool).max_request_state_bytes(2000));
    let state = state_of(&local, &call("two")).await;
    let junk = json!({ "action": "accept", "content": { "ok": true, "junk": "x".repeat(2000) } });
    let message = retry(call("two"), &state).set("/params/inputResponses", json!({ "confirm": junk }));
    let reply = local.send(&message).await;
    assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (200, json!(-32602)));
    assert_eq!(reply.json()["error"]["message"], "the answers are more than can be kept: begin again");
}

/// A protector that is sometimes not there, and whose bytes anybody can read and write.
#[derive(Clone, Default)]
struct Open(std::sync::Arc<std::sync::atomic::AtomicBool>);

impl Open {
    fn check(&self) -> Result<(), ProtectorError> {
        match self.0.load(std::sync::atomic::Ordering::SeqCst) {
            true => Err(ProtectorError::Unavailable("the key service is away".into())),
            false => Ok(()),
        }
    }
}

impl StateProtector for Open {
    async fn seal(&self, state: &[u8], _: &StateContext) -> Result<String, ProtectorError> {
        self.check()?;
        Ok(state.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    async fn open(&self, sealed: &str, _: &StateContext) -> Result<Vec<u8>, ProtectorError> {
        self.check()?;
        let digit = |at: usize| u8::from_str_radix(sealed.get(at..at + 2).unwrap_or("!"), 16);
        (0..sealed.len()).step_by(2).map(digit).collect::<Result<_, _>>().map_err(|_| ProtectorError::Refused)
    }
}

#[tokio::test(start_paused = true)]
async fn a_protector_of_ones_own_is_bound_all_the_same() {
    let protector = Open::default();
    let local =
        Local::guarded(builder(consenting()).request_state_protector(protector.clone()).admission(Named));
    let state = state_of(&local, &call("consent")).await;
    taken(&local, &retry(call("consent"), &state)).await;
    refused(&local, &retry(call("consent"), &state).header("x-name", "ada")).await;
    refused(&local, &retry(call("consent"), "nonsense")).await;
    refused(&local, &retry(call("consent"), &state).id(1)).await;
    protector.0.store(true, std::sync::atomic::Ordering::SeqCst);
    for message in [call("consent"), retry(call("consent"), &state)] {
        let away = local.send(&message).await;
        assert_eq!((away.status, away.json()["error"]["code"].clone()), (503, json!(-32603)));
        assert!(!away.json().to_string().contains("key service"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_state_of_the_applications_own_comes_back_as_it_was() {
    let tool = Tool::new("own").handler(|ask: Ask, state: RequestState| async move {
        let found = state.get().map(str::to_owned);
        state.set(format!("{}+", found.as_deref().unwrap_or("0")));
        let answer = ask.elicit::<Consent>("confirm", "Go on?").await;
        format!("{found:?} {answer:?}")
    });
    let local = Local::new(builder(tool));
    let first = state_of(&local, &call("own")).await;
    assert_eq!(first, "0+");
    let unanswered = call("own").id(2).set("/params/requestState", "anything");
    assert_eq!(state_of(&local, &unanswered).await, "anything+");
    let done = local.send(&retry(call("own"), "anything+")).await.json();
    assert_eq!(done["result"]["content"][0]["text"], "Some(\"anything+\") Accepted(Consent { ok: true })");
    refused(&local, &retry(call("own"), &"x".repeat(70_000))).await;
    let _: Value = done;
}

#[tokio::test(start_paused = true)]
async fn keeping_is_not_for_a_state_of_the_applications_own() {
    let tool = Tool::new("own").handler(|ask: Ask, _: RequestState| async move {
        ask.keep(&1)?;
        Ok::<_, ToolError>(format!("{:?}", ask.elicit::<Consent>("confirm", "Go on?").await))
    });
    let reply = Local::new(builder(tool)).send(&call("own")).await;
    assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (500, json!(-32603)));
}

#[tokio::test(start_paused = true)]
async fn one_key_is_for_one_ask() {
    for keys in [["a", "a"], ["", "b"]] {
        let tool = Tool::new("twice").handler(move |ask: Ask| async move {
            let _ =
                tokio::join!(ask.elicit::<Consent>(keys[0], "One?"), ask.elicit::<Consent>(keys[1], "Two?"));
            "done"
        });
        let reply = Local::new(builder(tool)).send(&call("twice")).await;
        assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (500, json!(-32603)));
    }
}

#[tokio::test(start_paused = true)]
#[should_panic = "the server asks again and again"]
async fn a_test_whose_answer_never_fits_ends() {
    let tool = Tool::new("own").handler(|ask: Ask, _: RequestState| async move {
        format!("{:?}", ask.elicit::<Consent>("confirm", "Go on?").await)
    });
    let _ = client(tool).call("own").answer("confirm", json!({ "ok": "yes" })).await;
}
