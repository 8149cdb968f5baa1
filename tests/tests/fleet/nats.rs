//! Over NATS.

use std::{
    sync::{Arc, atomic::Ordering::SeqCst},
    thread,
    time::Duration,
};

use async_nats::ConnectOptions;
use mcp_runtime::subscription::{Change, ChangePublisher as _, FleetError, NatsPublisher};
use mcp_tests::eventually;
use tokio::time::sleep;

use crate::{
    broker::{Broker, Kind},
    outages::{Client, KEYS, versions},
    server::{Server, part, quick},
};

crate::for_broker!(NatsPublisher);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_too_slow_is_told_everything() {
    let Some(broker) = Broker::start(Kind::Nats).await else { return };
    let a = Server::<NatsPublisher>::connected(&broker.url(), quick()).await;
    let narrow = ConnectOptions::new().subscription_capacity(8);
    let narrow = NatsPublisher::connect_lazy_with(broker.url(), narrow, quick()).expect("a publisher");
    narrow.ready().await.expect("it is connected");
    let truth = versions();
    let client = Client::new(&narrow, &truth);
    let _slow = narrow.subscribe(Arc::new(|_: &Change| {
        thread::sleep(Duration::from_millis(1));
        Ok(())
    }));
    for key in (0..10).flat_map(|_| 0..KEYS) {
        truth[key].fetch_add(1, SeqCst);
        a.publisher.publish(&part(key)).expect("it is told");
    }
    eventually("all is confirmed", || a.publisher.status().pending == 0).await;
    eventually("it knows all", || client.missed(&truth) == 0).await;
    assert!(narrow.status().gaps > 1, "{:?}", narrow.status());
    assert_eq!(a.publisher.status().gaps, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_not_be_connected_to_is_tried_again() {
    let Some(broker) = Broker::start(Kind::Nats).await else { return };
    // The broker speaks no TLS, and of two addresses only one is right.
    let secret = Server::<NatsPublisher>::new(&broker.url().replace("nats:", "tls:"), quick());
    let two = NatsPublisher::connect_lazy(["nats://127.0.0.1:1", &broker.url()].as_slice(), quick());
    Server::of(two.expect("a publisher")).hears(&Change::Everything).await;
    sleep(Duration::from_millis(100)).await;
    assert!(!secret.publisher.status().connected);
    secret.publisher.tools_changed().expect("it goes on trying");
}

#[tokio::test]
async fn what_is_no_address_or_no_subject_is_refused_at_once() {
    let refused = NatsPublisher::connect_lazy("ftp://127.0.0.1", quick());
    assert!(matches!(refused, Err(FleetError::Address(_))), "{refused:?}");
    let refused = NatsPublisher::connect_lazy("nats://127.0.0.1", quick().channel("mcp.*"));
    assert!(matches!(refused, Err(FleetError::Options(_))), "{refused:?}");
}
