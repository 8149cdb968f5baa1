//! Streams at the end of the server.

use std::sync::{Arc, Mutex, mpsc};

use mcp_runtime::{
    ShutdownReport,
    prelude::*,
    subscription::{Change, ChangeListener, EndReason, PublishError, Registration, allow_all},
};
use mcp_tests::{Local, Message, seconds};
use serde_json::json;
use tokio::{
    task::{JoinHandle, yield_now},
    time::{Instant, sleep},
};

use super::{assert_over, builder, built, guard::Verdict, guarded, listening, refused};

fn shutting_down(handle: ServerHandle) -> JoinHandle<ShutdownReport> {
    tokio::spawn(async move { handle.shutdown().await })
}

fn listen() -> Message {
    Message::listen(json!({ "toolsListChanged": true }))
}

#[tokio::test(start_paused = true)]
async fn each_of_many_streams_reads_its_result_in_no_time() {
    const STREAMS: usize = 900;
    let local = Local::new(builder().subscription_authorizer(allow_all()));
    let mut reading = Vec::new();
    for id in 0..STREAMS {
        let mut stream = local.open(&listen().id(id)).await;
        assert!(stream.next().await.is_some());
        reading.push(tokio::spawn(async move {
            let mut messages = Vec::new();
            while let Some(event) = stream.next().await {
                messages.extend(event.into_message());
            }
            (id, messages)
        }));
    }
    let report = local.handle().shutdown().await;
    assert!(report.is_graceful(), "{report:?}");
    assert_eq!((report.subscriptions, report.subscriptions_cut, report.running), (STREAMS, 0, 0));
    assert_eq!(report.duration, seconds(0));
    for reading in reading {
        let (id, messages) = reading.await.unwrap();
        assert_eq!(messages.len(), 1);
        assert_eq!(
            (&messages[0]["id"], &messages[0]["result"]["resultType"]),
            (&json!(id), &json!("complete"))
        );
    }
    assert_eq!(local.subscriptions().ended(EndReason::ShuttingDown), STREAMS);
    assert_eq!(local.subscriptions().open(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_is_still_being_opened_is_refused_at_once() {
    let guard = super::Guard::new();
    guard.says(Verdict::lasting(seconds(60)).after(seconds(4)));
    let local = Local::new(builder().subscription_authorizer(guard));
    let opening = tokio::spawn(local.open(&listen()));
    sleep(seconds(1)).await;
    let began = Instant::now();
    let report = local.handle().shutdown().await;
    assert!(report.is_graceful(), "{report:?}");
    let reply = opening.await.unwrap().whole().await;
    assert_eq!(reply.refusal(), (503, -32603));
    assert_eq!(began.elapsed(), seconds(0));
    assert_eq!(local.subscriptions().ended(EndReason::ShuttingDown), 1);
    assert_eq!(local.send(&listen()).await.refusal(), (503, -32603), "and so is what comes later");
    assert_eq!((report.subscriptions, local.subscriptions().open()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_has_the_graceful_time_and_an_absent_one_is_cut_off() {
    let (server, client) = built(builder().subscription_authorizer(allow_all()));
    let mut slow = listening(&client, "note://1").await;
    let mut absent = listening(&client, "note://1").await;
    let ending = shutting_down(server.handle());
    sleep(seconds(14)).await;
    assert_over(&mut slow).await;
    assert_eq!(server.subscriptions().open(), 1);
    let report = ending.await.unwrap();
    assert_eq!((report.subscriptions, report.subscriptions_cut), (2, 1));
    assert!(!report.is_graceful());
    assert_eq!(report.duration, seconds(15));
    assert_eq!((absent.next().await, absent.result()), (None, None));
    assert_eq!(absent.end_reason(), Some(EndReason::ShuttingDown));
    assert_eq!(server.subscriptions().ended(EndReason::ShuttingDown), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_waits_for_permission_is_ended_too() {
    let (server, client, guard) = guarded(|builder| builder);
    guard.renews(seconds(60), Verdict::Never);
    let mut stream = listening(&client, "note://1").await;
    server.subscriptions().reconcile();
    server.publisher().resource_updated("note://1").unwrap();
    yield_now().await;
    let ending = shutting_down(server.handle());
    assert_eq!(stream.next().await, None);
    assert_eq!(stream.end_reason(), Some(EndReason::ShuttingDown));
    assert_over(&mut stream).await;
    assert!(ending.await.unwrap().is_graceful());
}

#[tokio::test(start_paused = true)]
async fn in_the_process_what_comes_later_is_refused_as_well() {
    let (server, client) = built(builder().subscription_authorizer(allow_all()));
    server.handle().shutdown().await;
    assert_eq!(refused(client.listen().tools().await), -32603);
    server.publisher().tools_changed().unwrap();
    server.subscriptions().reconcile();
}

/// A publisher whose registrations are hard to close.
struct Sticky(Arc<Mutex<dyn FnMut() + Send>>);

impl ChangePublisher for Sticky {
    fn subscribe(&self, _: Arc<dyn ChangeListener>) -> Registration {
        let close = Arc::clone(&self.0);
        Registration::new(move || (close.lock().expect("closed once"))())
    }

    fn publish(&self, _: &Change) -> Result<(), PublishError> {
        Ok(())
    }
}

fn sticky(close: impl FnMut() + Send + 'static) -> Sticky {
    Sticky(Arc::new(Mutex::new(close)))
}

#[tokio::test(start_paused = true)]
async fn a_registration_that_does_not_close_is_left_and_reported() {
    let (release, blocked) = mpsc::sync_channel::<()>(1);
    let publisher = sticky(move || {
        let _ = blocked.recv_timeout(seconds(20));
    });
    let builder = builder().publisher(publisher).subscription_authorizer(allow_all());
    // While a thread blocks, paused time stands still; so there is little to wait for.
    let brief = std::time::Duration::from_millis(50);
    let (server, client) = built(builder.graceful_shutdown(brief).forced_shutdown(brief));
    let mut stream = client.listen().tools().await.unwrap();
    let reading = tokio::spawn(async move { (stream.next().await, stream.result().is_some()) });
    yield_now().await;
    let ending = shutting_down(server.handle());
    yield_now().await;
    tokio::time::resume();
    let report = ending.await.unwrap();
    assert!(report.registration_left && !report.is_graceful(), "{report:?}");
    assert_eq!(reading.await.unwrap(), (None, true), "the streams have ended all the same");
    drop(release);
}

#[tokio::test(start_paused = true)]
async fn a_registration_that_takes_its_time_is_waited_for() {
    let (release, blocked) = mpsc::sync_channel::<()>(1);
    let (closing, closes) = tokio::sync::oneshot::channel();
    let mut closing = Some(closing);
    let publisher = sticky(move || {
        closing.take().unwrap().send(()).unwrap();
        let _ = blocked.recv_timeout(seconds(20));
    });
    let (server, _) = built(builder().publisher(publisher).subscription_authorizer(allow_all()));
    let ending = shutting_down(server.handle());
    closes.await.unwrap();
    // Other tasks run, and the shutdown with them.
    for _ in 0..100 {
        yield_now().await;
    }
    assert!(!ending.is_finished(), "there is time left");
    drop(release);
    let report = ending.await.unwrap();
    assert!(report.is_graceful(), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn a_registration_that_panics_is_reported() {
    let publisher = sticky(|| panic!("in the publisher"));
    let (server, client) = built(builder().publisher(publisher).subscription_authorizer(allow_all()));
    let mut stream = client.listen().tools().await.unwrap();
    let ending = shutting_down(server.handle());
    assert_eq!(stream.next().await, None);
    let report = ending.await.unwrap();
    assert!(report.registration_left, "{report:?}");
    assert_eq!((report.subscriptions, report.subscriptions_cut), (1, 0));
}
