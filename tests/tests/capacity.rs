//! Bounds: places for handlers, the queue before them, and rate limits.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use mcp_runtime::{McpServer, RateLimit, RateLimited, prelude::*, server::ServerBuilder};
use mcp_tests::{Local, Message, Probe, eventually, seconds};
use serde_json::json;
use tokio::time::Instant;

#[mcp_endpoint(path = "/mcp", name = "capacity", version = "1.0.0")]
struct Shop;

#[mcp_endpoint]
impl Shop {
    /// Ends when it is permitted to.
    #[mcp_tool]
    async fn led(name: String, State(probe): State<Probe>) -> String {
        probe.note(format!("{name} starts"));
        probe.permitted().await;
        probe.note(format!("{name} ends"));
        name
    }

    #[mcp_tool]
    fn blocking(State(busy): State<Busy>) -> String {
        let now = busy.0.fetch_add(1, SeqCst) + 1;
        busy.1.fetch_max(now, SeqCst);
        std::thread::yield_now();
        busy.0.fetch_sub(1, SeqCst);
        "done".to_owned()
    }

    #[mcp_tool]
    async fn quick() -> &'static str {
        "done"
    }

    #[mcp_resource(uri = "shop://door")]
    async fn door() -> &'static str {
        "open"
    }
}

/// How many run now, and the most that ever did.
#[derive(Clone, Default)]
struct Busy(Arc<AtomicUsize>, Arc<AtomicUsize>);

fn builder(probe: &Probe) -> ServerBuilder {
    McpServer::builder().endpoint(Shop).state(probe.clone()).state(Busy::default())
}

/// Places for handlers, blocking or not, and a queue.
fn bounded(probe: &Probe, places: usize, queue: usize) -> Local {
    let builder = builder(probe).max_concurrent_handlers(places).max_blocking_handlers(1);
    Local::new(builder.handler_queue(queue))
}

fn led(name: &str) -> Message {
    Message::call("led", json!({ "name": name }))
}

fn quick() -> Message {
    Message::call("quick", json!({}))
}

#[tokio::test(start_paused = true)]
async fn without_a_place_or_a_queue_a_call_is_refused_at_once() {
    let probe = Probe::new();
    let local = bounded(&probe, 1, 0);
    let running = tokio::spawn(local.open(&led("first")));
    probe.noted("first starts").await;
    let began = Instant::now();
    for message in [quick(), Message::read("shop://door")] {
        let reply = local.send(&message).await;
        assert_eq!((reply.refusal(), began.elapsed()), ((503, -32603), seconds(0)));
        assert_eq!(reply.header("retry-after"), Some("1"));
        assert_eq!(reply.json()["id"], 1);
    }
    probe.permit();
    assert_eq!(running.await.unwrap().whole().await.text(), "first");
    assert_eq!(local.send(&quick()).await.text(), "done");
}

#[tokio::test(start_paused = true)]
async fn lists_and_discovery_need_no_place() {
    let probe = Probe::new();
    let local = bounded(&probe, 1, 0);
    let _running = tokio::spawn(local.open(&led("first")));
    probe.noted("first starts").await;
    for method in ["server/discover", "tools/list", "resources/list"] {
        assert_eq!(local.send(&Message::request(method)).await.status, 200, "{method}");
    }
    assert_eq!(local.send(&Message::notification("notifications/cancelled")).await.status, 202);
}

#[tokio::test(start_paused = true)]
async fn the_queue_is_first_come_first_served_and_refuses_what_does_not_fit() {
    let probe = Probe::new();
    let local = bounded(&probe, 1, 2);
    let mut calls = Vec::new();
    for (at, name) in ["first", "second", "third"].into_iter().enumerate() {
        calls.push(tokio::spawn(local.open(&led(name))));
        eventually("it has arrived", || local.handle().running() + local.handle().waiting() == at + 1).await;
    }
    let began = Instant::now();
    assert_eq!(local.send(&quick()).await.refusal(), (503, -32603));
    assert_eq!(began.elapsed(), seconds(0), "it did not wait");
    assert_eq!((local.handle().running(), local.handle().waiting()), (1, 2));
    for call in calls {
        probe.permit();
        assert_eq!(call.await.unwrap().status, 200);
    }
    let order = ["first starts", "first ends", "second starts", "second ends", "third starts", "third ends"];
    assert_eq!(probe.notes(), order);
    assert_eq!((local.handle().running(), local.handle().waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_in_the_queue_is_a_503_and_the_handler_never_runs() {
    let probe = Probe::new();
    let builder = builder(&probe).max_concurrent_handlers(1).max_blocking_handlers(1);
    let local = Local::new(builder.request_timeout(seconds(30)).cancellation_grace(None));
    let first = tokio::spawn(local.open(&led("first")));
    probe.noted("first starts").await;
    let began = Instant::now();
    let waiting = led("second");
    let (second, first) = tokio::join!(local.send(&waiting), first);
    assert_eq!(second.refusal(), (503, -32603));
    assert_eq!(second.header("retry-after"), Some("1"));
    assert_eq!(first.unwrap().status, 504, "that one did run");
    assert_eq!(began.elapsed(), seconds(30));
    assert_eq!((probe.notes(), local.handle().waiting()), (vec!["first starts".to_owned()], 0));
}

#[tokio::test]
async fn blocking_handlers_have_a_bound_of_their_own() {
    let (probe, busy) = (Probe::new(), Busy::default());
    let builder = McpServer::builder().endpoint(Shop).state(probe).state(busy.clone());
    let local = Local::new(builder.max_blocking_handlers(3));
    let calls = (0..40).map(|_| tokio::spawn(local.open(&Message::call("blocking", json!({})))));
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap().whole().await.text(), "done");
    }
    assert!((1..=3).contains(&busy.1.load(SeqCst)), "{} at once", busy.1.load(SeqCst));
    assert_eq!(local.handle().running(), 0);
}

/// Refuses a number of requests, each with a delay, and keeps what it was asked.
#[derive(Clone, Default)]
struct Meter {
    delays: Arc<std::sync::Mutex<Vec<Duration>>>,
    asked: Arc<std::sync::Mutex<Vec<String>>>,
}

impl Meter {
    fn refusing(delays: &[Duration]) -> Self {
        let meter = Self::default();
        *meter.delays.lock().expect("no panic") = delays.iter().rev().copied().collect();
        meter
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().expect("no panic"))
    }
}

impl RateLimit for Meter {
    async fn check(&self, request: &RateLimited<'_>) -> Result<(), Duration> {
        tokio::task::yield_now().await;
        let RateLimited { caller, endpoint, method, tool } = request;
        let asked = format!("{:?} {} {method} {tool:?}", caller.id(), endpoint.path);
        self.asked.lock().map_err(|_| Duration::ZERO)?.push(asked);
        self.delays.lock().map_err(|_| Duration::ZERO)?.pop().map_or(Ok(()), Err)
    }
}

/// Takes a caller's word for who it is.
struct Trusting;

impl Admission for Trusting {
    async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        let name = request.headers().get("x-caller").and_then(|name| name.to_str().ok());
        Ok(name.map_or_else(Caller::anonymous, Caller::identified))
    }
}

#[tokio::test]
async fn a_rate_limit_answers_when_to_come_back_in_whole_seconds() {
    for (delay, header) in [
        (Duration::ZERO, "1"),
        (Duration::from_millis(1), "1"),
        (seconds(1), "1"),
        (Duration::from_millis(1001), "2"),
        (seconds(3600), "3600"),
    ] {
        let meter = Meter::refusing(&[delay]);
        let local = Local::new(builder(&Probe::new()).request_rate_limit(meter));
        let reply = local.send(&quick().id("r")).await;
        assert_eq!(reply.refusal(), (429, -31999), "{delay:?}");
        assert_eq!(reply.header("retry-after"), Some(header), "{delay:?}");
        assert_eq!(reply.json()["id"], "r");
        assert_eq!(local.send(&quick()).await.text(), "done");
    }
}

#[tokio::test]
async fn the_limits_know_who_calls_what() {
    let (requests, tools) = (Meter::default(), Meter::default());
    let builder = builder(&Probe::new()).admission(Trusting);
    let local = Local::guarded(builder.request_rate_limit(requests.clone()).tool_rate_limit(tools.clone()));
    for (message, request, tool) in [
        (quick(), "None /mcp tools/call None", Some(r#"None /mcp tools/call Some("quick")"#)),
        (
            quick().header("x-caller", "ada"),
            r#"Some("ada") /mcp tools/call None"#,
            Some(r#"Some("ada") /mcp tools/call Some("quick")"#),
        ),
        (Message::request("tools/list"), "None /mcp tools/list None", None),
        (Message::read("shop://door"), "None /mcp resources/read None", None),
        (Message::request("nothing"), "None /mcp nothing None", None),
    ] {
        local.send(&message).await;
        assert_eq!(requests.asked(), [request]);
        assert_eq!(tools.asked(), Vec::from_iter(tool), "only calls of tools count as such");
    }
}

#[tokio::test]
async fn the_limit_of_tools_refuses_calls_alone() {
    let tools = Meter::refusing(&[seconds(2)]);
    let local = Local::new(builder(&Probe::new()).tool_rate_limit(tools));
    assert_eq!(local.send(&Message::read("shop://door")).await.text(), "open");
    let reply = local.send(&quick()).await;
    assert_eq!((reply.refusal(), reply.header("retry-after")), ((429, -31999), Some("2")));
    assert_eq!(local.handle().running(), 0);
}

#[cfg(feature = "rate-limit")]
#[tokio::test]
async fn a_token_bucket_gives_every_caller_its_own_burst() {
    let bucket = mcp_runtime::TokenBucket::new(2, seconds(3600));
    let local = Local::guarded(builder(&Probe::new()).admission(Trusting).request_rate_limit(bucket));
    for caller in ["ada", "bob"] {
        let message = quick().header("x-caller", caller);
        for _ in 0..2 {
            assert_eq!(local.send(&message).await.text(), "done");
        }
        let reply = local.send(&message).await;
        assert_eq!(reply.refusal(), (429, -31999), "{caller}");
        let wait: u64 = reply.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=1800).contains(&wait), "half the period refills one: {wait}");
    }
}
