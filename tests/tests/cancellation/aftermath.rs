//! What becomes of a handler that was cancelled: its grace, its place, its result.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Local, Probe, endpoint, eventually, seconds};
use tokio::time::Instant;

use super::{Cancelling, Kept, Release, builder, call, server, started};

#[tokio::test(start_paused = true)]
async fn a_handler_that_does_not_listen_is_dropped_after_the_grace() {
    let (local, probe) = server();
    let waiting = started(&local, &probe, &call("deaf")).await;
    waiting.abort();
    let began = Instant::now();
    assert_eq!(local.handle().running(), 1, "its place stays taken");
    probe.noted("dropped").await;
    assert_eq!(began.elapsed(), seconds(5));
    eventually("the place is free", || local.handle().running() == 0).await;
    assert_eq!(probe.notes(), ["started", "dropped"]);
}

#[tokio::test(start_paused = true)]
async fn the_grace_begins_with_the_deadline_and_the_answer_does_not_wait_for_it() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).request_timeout(seconds(10)).cancellation_grace(seconds(3)));
    let began = Instant::now();
    assert_eq!(local.send(&call("deaf")).await.status, 504);
    assert_eq!((began.elapsed(), local.handle().running()), (seconds(10), 1));
    probe.noted("dropped").await;
    assert_eq!(began.elapsed(), seconds(13));
}

#[tokio::test(start_paused = true)]
async fn without_a_grace_a_handler_is_never_dropped() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).cancellation_grace(None));
    let began = Instant::now();
    started(&local, &probe, &call("deaf")).await.abort();
    probe.noted("dropped").await;
    assert_eq!(began.elapsed(), seconds(60), "it ended by itself");
    assert_eq!(probe.notes(), ["started", "finished: Ok(())", "dropped"]);
    eventually("the place is free", || local.handle().running() == 0).await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_after_cancellation_frees_its_place() {
    let (local, probe) = server();
    started(&local, &probe, &call("panics_when_cancelled")).await.abort();
    probe.noted("panicking").await;
    eventually("the place is free", || local.handle().running() == 0).await;
    probe.permit();
    assert_eq!(local.send(&call("led")).await.text(), "None");
}

#[tokio::test(start_paused = true)]
async fn a_destructor_that_panics_frees_its_place() {
    struct Explosive(Probe);
    impl Drop for Explosive {
        fn drop(&mut self) {
            self.0.note("dropped");
            panic!("in a destructor");
        }
    }
    let tool = Tool::new("explosive").handler(async |State(probe): State<Probe>| {
        let _explosive = Explosive(probe.clone());
        probe.note("started");
        std::future::pending::<()>().await;
    });
    let probe = Probe::new();
    let builder = McpServer::builder().endpoint(endpoint().tool(tool)).state(probe.clone());
    let local = Local::new(builder);
    started(&local, &probe, &call("explosive")).await.abort();
    probe.noted("dropped").await;
    eventually("its place is free", || local.handle().running() == 0).await;
    assert!(local.handle().shutdown().await.is_graceful());
}

#[tokio::test]
async fn a_blocking_handler_keeps_its_place_until_it_returns() {
    let (probe, release) = (Probe::new(), Release::default());
    let builder = McpServer::builder().endpoint(Cancelling).cancellation_grace(seconds(0));
    let builder = builder.state(probe.clone()).state(release.clone()).state(Kept::default());
    let local = Local::new(builder.max_concurrent_handlers(1).max_blocking_handlers(1).handler_queue(0));
    started(&local, &probe, &call("blocking")).await.abort();
    // Far beyond the grace, which is over at once.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(local.handle().running(), 1);
    assert_eq!(local.send(&call("led")).await.status, 503);
    release.all();
    probe.noted("returned: Some(ClientDisconnected)").await;
    eventually("the place is free", || local.handle().running() == 0).await;
    probe.permit();
    assert_eq!(local.send(&call("led")).await.text(), "None");
}

#[tokio::test]
async fn a_blocking_handler_that_is_cancelled_before_it_begins_never_does() {
    let (probe, release) = (Probe::new(), Release::default());
    let builder = McpServer::builder().endpoint(Cancelling).cancellation_grace(None);
    let builder = builder.state(probe.clone()).state(release.clone()).state(Kept::default());
    let local = Local::new(builder.max_blocking_handlers(1));
    let first = started(&local, &probe, &call("blocking")).await;
    let second = tokio::spawn(local.open(&call("blocking")));
    eventually("it waits for a thread", || local.handle().running() == 2).await;
    second.abort();
    eventually("it has left", || local.handle().running() == 1).await;
    release.all();
    assert_eq!(first.await.unwrap().whole().await.text(), "too late");
    assert_eq!(probe.notes(), ["started", "returned: None"]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_leaves_the_queue_never_runs() {
    let probe = Probe::new();
    let local = Local::new(builder(&probe).max_concurrent_handlers(1).max_blocking_handlers(1));
    let first = started(&local, &probe, &call("led")).await;
    let second = tokio::spawn(local.open(&call("led")));
    eventually("it waits", || local.handle().waiting() == 1).await;
    second.abort();
    eventually("it has left", || local.handle().waiting() == 0).await;
    probe.permit();
    assert_eq!(first.await.unwrap().whole().await.text(), "None");
    assert_eq!(probe.notes(), ["started"]);
}
