//! A fleet whose broker is well.

use std::time::Duration;

use mcp_runtime::subscription::Change;
use mcp_tests::eventually;
use tokio::{runtime::Handle, time::sleep};

use crate::{
    broker::{Broker, CREDENTIALS},
    server::{FleetPublisher, Server, part, quick},
};

pub async fn a_change_is_heard_here_at_once_and_everywhere_once<P: FleetPublisher>() {
    let Some(broker) = Broker::start(P::KIND).await else { return };
    let a = Server::<P>::connected(&broker.url(), quick()).await;
    let b = Server::<P>::connected(&broker.url(), quick()).await;
    for number in 0..1000 {
        a.publisher.publish(&part(number)).expect("it is told");
    }
    let all: Vec<_> = (0..1000).map(part).collect();
    assert_eq!(a.heard(), all);
    // What follows on the same way comes last.
    a.publisher.prompts_changed().expect("it is told");
    eventually("all is confirmed", || a.publisher.status().pending == 0).await;
    eventually("all is received", || b.publisher.status().received == 1001).await;
    assert_eq!(b.heard(), [&all[..], &[Change::Prompts]].concat());
    assert_eq!(a.heard(), [Change::Prompts]);
    let status = a.publisher.status();
    assert_eq!((status.published, status.confirmed, status.received), (1001, 1001, 0));
}

pub async fn channels_are_apart<P: FleetPublisher>() {
    let Some(broker) = Broker::start(P::KIND).await else { return };
    let a = Server::<P>::connected(&broker.url(), quick().channel("one")).await;
    let b = Server::<P>::connected(&broker.url(), quick().channel("other")).await;
    let c = Server::<P>::connected(&broker.url(), quick().channel("one")).await;
    a.publisher.tools_changed().expect("it is told");
    c.hears(&Change::Tools).await;
    assert_eq!(b.heard(), []);
}

pub async fn credentials_are_those_of_the_address<P: FleetPublisher>() {
    let Some(broker) = Broker::start_guarded(P::KIND).await else { return };
    let right = Server::<P>::connected(&broker.url_with(CREDENTIALS), quick()).await;
    let wrong = Server::<P>::new(&broker.url_with((CREDENTIALS.0, "wrong")), quick());
    let none = Server::<P>::new(&broker.url(), quick());
    right.publisher.tools_changed().expect("it is told");
    sleep(Duration::from_millis(300)).await;
    assert!(right.publisher.status().connected);
    for refused in [wrong, none] {
        assert!(!refused.publisher.status().connected);
        assert_eq!(refused.heard(), []);
    }
}

pub async fn the_last_clone_leaves_nothing_running<P: FleetPublisher>() {
    let Some(broker) = Broker::start(P::KIND).await else { return };
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let server = Server::<P>::connected(&broker.url(), quick()).await;
    let clone = server.publisher.clone();
    drop(server);
    clone.tools_changed().expect("it is told");
    eventually("the clone still works", || clone.status().pending == 0).await;
    assert!(tasks() > before);
    drop(clone);
    eventually("its tasks have ended", || tasks() == before).await;
    // Nor does one that never reached its broker.
    let away = Server::<P>::new("nats://127.0.0.1:1".replace("nats", P::KIND.scheme()).as_str(), quick());
    sleep(Duration::from_millis(50)).await;
    assert!(tasks() > before);
    drop(away);
    eventually("its tasks have ended", || tasks() == before).await;
}
