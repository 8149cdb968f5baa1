//! A protector of the application's own that fails in other ways than it should.

use std::{future::pending, time::Duration};

use mcp_runtime::{
    prelude::*,
    request_state::{ProtectorError, StateContext, StateProtector},
};
use mcp_tests::{CAPABILITIES, Local, Message, Reply, seconds};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{Consent, builder, consenting};

/// What becomes of a state in its hands.
#[derive(Clone, Copy)]
enum Broken {
    Panics,
    Hangs,
}

impl Broken {
    async fn never<T>(self) -> Result<T, ProtectorError> {
        sleep(Duration::from_millis(1)).await;
        match self {
            Self::Panics => panic!("on purpose"),
            Self::Hangs => pending().await,
        }
    }
}

impl StateProtector for Broken {
    async fn seal(&self, _: &[u8], _: &StateContext) -> Result<String, ProtectorError> {
        self.never().await
    }

    async fn open(&self, _: &str, _: &StateContext) -> Result<Vec<u8>, ProtectorError> {
        self.never().await
    }
}

/// Asks after its response has begun.
fn reporting() -> Tool {
    let asks = Capabilities { elicitation: true, ..Capabilities::NONE };
    Tool::new("consent").asks(asks).handler(|ask: Ask, progress: Option<ProgressReporter>| async move {
        progress.report(1).await?;
        sleep(Duration::from_millis(1)).await;
        Ok::<_, ToolError>(format!("{:?}", ask.elicit::<Consent>("confirm", "Go on?").await))
    })
}

fn call() -> Message {
    Message::call("consent", json!({})).meta(CAPABILITIES, json!({ "elicitation": {} }))
}

/// A request whose state is sealed, one whose state is sealed after its stream has begun, and one whose state is opened.
fn requests() -> [(Tool, Message); 3] {
    [
        (consenting(), call()),
        (reporting(), call().progress_token("p")),
        (consenting(), call().set("/params/requestState", "a state")),
    ]
}

fn error(reply: &Reply) -> (Value, Value) {
    let answer = reply.answer();
    (answer["error"]["code"].clone(), answer["error"]["message"].clone())
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_an_answer() {
    for (tool, message) in requests() {
        let local = Local::new(builder(tool).request_state_protector(Broken::Panics));
        assert_eq!(error(&local.send(&message).await), (json!(-32603), json!("internal error")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_protector_has_as_long_as_its_request() {
    for (tool, message) in requests() {
        let local = Local::new(builder(tool).request_state_protector(Broken::Hangs));
        let began = Instant::now();
        let (code, said) = error(&local.send(&message).await);
        assert_eq!((code, began.elapsed()), (json!(-32603), seconds(60)));
        assert!(said.as_str().unwrap().contains("state"), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn shutdown_does_not_wait_for_a_protector_longer_than_for_a_handler() {
    for (tool, message) in requests() {
        let local = Local::new(builder(tool).request_state_protector(Broken::Hangs));
        let opened = local.open(&message);
        let answered = tokio::spawn(async move { error(&opened.await.whole().await) });
        sleep(seconds(5)).await;
        let report = local.handle().shutdown().await;
        assert_eq!((report.residual, report.cancelled), (0, report.running));
        assert!(report.duration <= seconds(15), "{report:?}");
        assert_eq!(answered.await.unwrap(), (json!(-32603), json!("the server is shutting down")));
    }
}
