//! A request that has been made.

use std::marker::PhantomData;

use serde::Deserialize;
use serde_json::Value;

use super::{
    answers::asked,
    call::Call,
    error::RpcError,
    response::{Answered, ProgressUpdate, Response},
};
use crate::transport::in_process::Exchange;

/// How often a request is made again: a server that never has enough, which only counts the rounds of states that it
/// seals, must not keep a test for ever.
const MOST_ROUNDS: u32 = 1000;

/// A request that has been made. Dropping it is how a client disconnects: the handler's token is signalled by the time
/// the drop returns.
///
/// Progress is read as it is asked for, so that a handler waits for a client that does not look.
#[must_use = "dropping a running request cancels it"]
pub struct Running<T> {
    exchange: Exchange,
    /// The request, to be made again when the server asks for something.
    call: Call<Response>,
    /// How often it has been made again.
    rounds: u32,
    heard: Response,
    /// How much of the progress has been given out.
    seen: usize,
    answer: Option<Result<Value, RpcError>>,
    marker: PhantomData<fn() -> T>,
}

/// The members by which messages from a server are told apart.
#[derive(Deserialize)]
struct Message {
    method: Option<String>,
    #[serde(default)]
    params: Value,
    result: Option<Value>,
    error: Option<RpcError>,
}

impl<T: Answered> Running<T> {
    pub(super) fn new(exchange: Exchange, call: Call<Response>) -> Self {
        Self {
            exchange,
            call,
            rounds: 0,
            heard: Response::default(),
            seen: 0,
            answer: None,
            marker: PhantomData,
        }
    }

    /// Waits for the next progress; `None` when the answer has come instead.
    pub async fn next_progress(&mut self) -> Option<ProgressUpdate> {
        while self.seen == self.heard.progress.len() {
            if !self.listen().await {
                return None;
            }
        }
        self.seen += 1;
        self.heard.progress.get(self.seen - 1).cloned()
    }

    /// Cancels the request as a client over stdio does, with `notifications/cancelled`.
    pub fn cancel(self) {
        self.exchange.cancel();
    }

    /// Waits for the answer.
    ///
    /// # Errors
    /// The error that the server answered with.
    ///
    /// # Panics
    /// If the answer is not what the specification says, the server asks for something that the call has no answer to, or
    /// asks a thousand times, or the application panicked outside of a handler.
    pub async fn finish(mut self) -> Result<T, RpcError> {
        while self.listen().await {}
        let Some(answer) = self.answer else { panic!("the server ended without an answer") };
        self.heard.result = answer?;
        self.heard.questions = self.call.questions.take();
        let asked = asked(&self.heard.result);
        match (T::read(self.heard), asked) {
            (Ok(response), _) => Ok(response),
            (Err(_), Some(asked)) => {
                let keys: Vec<&str> = asked.keys().map(String::as_str).collect();
                let keys = keys.join("`, `");
                panic!(
                    "the server asks for `{keys}`: give the call an `.answer(…)` to each, or make it `.untyped()`"
                )
            }
            (Err(error), None) => panic!("the server's result is malformed: {error}"),
        }
    }

    /// Hears the next messages; false if the answer was the last.
    async fn listen(&mut self) -> bool {
        let Some(lines) = self.exchange.lines().await else { return self.retry() };
        for message in parse(&lines) {
            self.hear(message);
        }
        true
    }

    /// Makes the request again if the server has asked for something, and the test has the answers.
    fn retry(&mut self) -> bool {
        let Some(Ok(result)) = &self.answer else { return false };
        let Some(asked) = asked(result) else { return false };
        asked.iter().for_each(|(key, request)| self.call.questions.add(key, request.clone()));
        let Some(exchange) = self.call.retry(&asked, &result["requestState"]) else { return false };
        self.rounds += 1;
        assert!(self.rounds <= MOST_ROUNDS, "the server asks again and again: do the answers fit?");
        self.exchange = exchange;
        self.answer = None;
        true
    }

    fn hear(&mut self, message: Value) {
        let text = message.to_string();
        let Ok(message) = serde_json::from_value::<Message>(message) else {
            panic!("the server sent what is no message: {text}")
        };
        match (message.method.as_deref(), message.result, message.error) {
            (Some("notifications/progress"), ..) => self.heard.progress.push(read(message.params)),
            (Some("notifications/message"), ..) => self.heard.logs.push(read(message.params)),
            (None, Some(result), None) => self.answer = Some(Ok(result)),
            (None, None, Some(error)) => self.answer = Some(Err(error)),
            _ => panic!("the server sent an unexpected message: {text}"),
        }
    }
}

impl<T> std::fmt::Debug for Running<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running")
            .field("heard", &self.heard)
            .field("answer", &self.answer)
            .finish_non_exhaustive()
    }
}

/// One message a line.
pub(super) fn parse(lines: &[u8]) -> impl Iterator<Item = Value> {
    lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(
        |line| match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => {
                panic!("the server sent what is not JSON: {error}: {}", String::from_utf8_lossy(line))
            }
        },
    )
}

fn read<N: serde::de::DeserializeOwned>(params: Value) -> N {
    match serde_json::from_value(params) {
        Ok(notification) => notification,
        Err(error) => panic!("the server sent a malformed notification: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{
        sync::mpsc::{UnboundedReceiver, unbounded_channel},
        time::{Instant, sleep, timeout},
    };

    use crate::{prelude::*, testing::Client};

    type Reasons = UnboundedReceiver<CancellationReason>;

    /// A client of a tool that reports so often, then rests, and tells why it is cancelled.
    fn client(name: &str, reports: u32, rest: Duration) -> (Client, Reasons) {
        let (sender, reasons) = unbounded_channel();
        let handler = move |token: CancellationToken, progress: Option<ProgressReporter>| {
            let sender = sender.clone();
            token.on_cancel(move |reason| sender.send(reason).expect("the test listens")).detach();
            async move {
                for done in 1..=reports {
                    progress.report(done).await?;
                }
                sleep(rest).await;
                Ok::<_, ToolError>("said")
            }
        };
        let endpoint = Endpoint::builder("/mcp").tool(Tool::new(name).handler(handler));
        (Client::new(&McpServer::builder().endpoint(endpoint).build().unwrap()), reasons)
    }

    fn hanging() -> (Client, Reasons) {
        client("hang", 1, Duration::from_secs(3600))
    }

    fn chatty(reports: u32) -> (Client, Reasons) {
        client("talk", reports, Duration::ZERO)
    }

    #[tokio::test(start_paused = true)]
    async fn a_running_call_is_watched_and_finished() {
        let (client, _) = chatty(3);
        let mut running = client.call("talk").with_progress().start();
        assert_eq!(running.next_progress().await.unwrap().progress, 1.0);
        assert_eq!(running.next_progress().await.unwrap().progress, 2.0);
        assert_eq!(running.next_progress().await.unwrap().progress, 3.0);
        assert_eq!(running.next_progress().await, None);
        assert_eq!(running.next_progress().await, None);
        let response = running.finish().await.unwrap();
        assert_eq!(response.progress().len(), 3, "what was watched is there, too");
        assert_eq!(response.text(), "said");
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_a_running_call_is_a_disconnect() {
        let (client, mut reasons) = hanging();
        let mut running = client.call("hang").with_progress().start();
        running.next_progress().await.unwrap();
        drop(running);
        assert_eq!(
            reasons.try_recv(),
            Ok(CancellationReason::ClientDisconnected),
            "by the time the drop returns"
        );

        let running = client.call("hang").start();
        tokio::task::yield_now().await;
        drop(running);
        assert_eq!(
            reasons.try_recv(),
            Ok(CancellationReason::ClientDisconnected),
            "before anything was said"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_the_future_of_a_call_is_a_disconnect() {
        let (client, mut reasons) = hanging();
        let began = Instant::now();
        timeout(Duration::from_secs(7), client.call("hang").into_future()).await.unwrap_err();
        assert_eq!(began.elapsed(), Duration::from_secs(7));
        assert_eq!(reasons.try_recv(), Ok(CancellationReason::ClientDisconnected));
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_can_be_cancelled_as_over_stdio() {
        let (client, mut reasons) = hanging();
        let mut running = client.call("hang").with_progress().start();
        running.next_progress().await.unwrap();
        running.cancel();
        assert_eq!(reasons.try_recv(), Ok(CancellationReason::ClientCancelled));
        assert!(reasons.try_recv().is_err(), "the drop that follows is no second signal");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_has_ended_cancels_nothing() {
        let (client, mut reasons) = chatty(1);
        let running = client.call("talk").with_progress().start();
        sleep(Duration::from_secs(1)).await;
        drop(running);
        assert_eq!(client.call("talk").await.unwrap().text(), "said");
        assert!(reasons.try_recv().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_deadline_takes_no_time() {
        let (client, mut reasons) = hanging();
        let (real, began) = (std::time::Instant::now(), Instant::now());
        let error = client.call("hang").await.unwrap_err();
        assert_eq!((error.code, began.elapsed()), (-32603, Duration::from_secs(60)));
        assert_eq!(reasons.try_recv(), Ok(CancellationReason::DeadlineExceeded));
        assert!(real.elapsed() < Duration::from_secs(10));
    }

    #[tokio::test(start_paused = true)]
    async fn an_unread_handler_waits_and_is_given_up() {
        let (client, mut told) = chatty(1000);
        let mut running = client.call("talk").with_progress().start();
        running.next_progress().await.unwrap();
        sleep(Duration::from_secs(29)).await;
        assert!(told.try_recv().is_err(), "it waits for its client");
        sleep(Duration::from_secs(30)).await;
        assert_eq!(told.try_recv(), Ok(CancellationReason::WriteStalled));
        assert_eq!(running.finish().await.unwrap_err().code, -32603);
    }
}
