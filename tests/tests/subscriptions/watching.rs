//! Watching what somebody listens to.

use std::collections::BTreeMap;

use mcp_runtime::{
    prelude::*,
    subscription::{BoxError, EndReason, Grant, InMemoryPublisher, ResourceUri, ResourceWatcher, allow_all},
    testing::Heard,
};
use mcp_tests::{Probe, seconds};
use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{builder, built, guard::Verdict, guarded, heard, listening};

/// Notes what it watches; some things can't be.
struct Watcher {
    probe: Probe,
    publisher: InMemoryPublisher,
}

struct Watch(Probe, String);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.note(format!("-{}", self.1));
        assert!(!self.1.ends_with("bad-end"), "at the end of a watch");
    }
}

impl ResourceWatcher for Watcher {
    type Watch = Watch;

    async fn watch(&self, uri: &ResourceUri) -> Result<Watch, BoxError> {
        let name = uri.as_str().trim_start_matches("note://").to_owned();
        self.probe.note(format!("+{name}"));
        match &*name {
            "missing" => return Err("no such note".into()),
            "broken" => panic!("in a watcher"),
            "slow" => self.probe.permitted().await,
            "changing" => self.publisher.resource_updated(uri.as_str())?,
            _ => {}
        }
        Ok(Watch(self.probe.clone(), name))
    }
}

fn watcher() -> (Watcher, Probe, InMemoryPublisher) {
    let (probe, publisher) = (Probe::new(), InMemoryPublisher::new());
    (Watcher { probe: probe.clone(), publisher: publisher.clone() }, probe, publisher)
}

/// What is watched now, as the notes tell.
fn watched(probe: &Probe) -> Vec<String> {
    let mut counts = BTreeMap::<String, i32>::new();
    for note in probe.notes() {
        let (sign, name) = note.split_at(1);
        *counts.entry(name.to_owned()).or_default() += if sign == "+" { 1 } else { -1 };
    }
    counts.into_iter().filter(|(_, count)| *count > 0).map(|(name, _)| name).collect()
}

#[tokio::test(start_paused = true)]
async fn the_first_subscriber_starts_a_watch_and_the_last_one_ends_it() {
    let (watcher, probe, _) = watcher();
    let (server, client) = built(builder().subscription_authorizer(allow_all()).watch_resources(watcher));
    let first = client.listen().tools().resource("note://a").resource("NOTE://b").await.unwrap();
    let honoured = json!({ "toolsListChanged": true, "resourceSubscriptions": ["note://a", "NOTE://b"] });
    assert_eq!(*first.acknowledged(), honoured);
    let second = listening(&client, "note://%61").await;
    let third = listening(&client, "note://b").await;
    assert_eq!(probe.notes(), ["+a", "+b"]);
    drop(first);
    assert_eq!(server.subscriptions().watched(), 2);
    drop(second);
    assert_eq!(probe.notes(), ["+a", "+b", "-a"], "nothing was awaited");
    drop(third);
    assert_eq!(watched(&probe), [""; 0]);
    let _again = listening(&client, "note://a").await;
    assert_eq!(watched(&probe), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_watched_is_missing_in_the_acknowledgement() {
    let (watcher, probe, _) = watcher();
    let (server, client) = built(builder().subscription_authorizer(allow_all()).watch_resources(watcher));
    let listen = client.listen().resource("note://missing").resource("note://a").resource("note://broken");
    let stream = listen.await.unwrap();
    assert_eq!(*stream.acknowledged(), json!({ "resourceSubscriptions": ["note://a"] }));
    assert_eq!(server.subscriptions().watched(), 1);
    drop(stream);
    assert_eq!(server.subscriptions().watched(), 0);
    assert!(probe.has("-a"));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_allowed_is_not_watched() {
    let (watcher, probe, _) = watcher();
    let (server, client, guard) = guarded(|builder| builder.watch_resources(watcher));
    guard.says(Verdict::Deny);
    assert!(client.listen().resource("note://a").await.is_err());
    guard.rule(|check| Verdict::Allow(Grant::lasting(seconds(60)).without(check.selection().uris().take(1))));
    let _stream = client.listen().resource("note://a").resource("note://b").await.unwrap();
    assert_eq!(probe.notes(), ["+b"]);
    assert_eq!(server.subscriptions().watched(), 1);
}

#[tokio::test(start_paused = true)]
async fn every_end_ends_the_watch() {
    let (watcher, probe, publisher) = watcher();
    let (server, client, guard) =
        guarded(|builder| builder.watch_resources(watcher).publisher(publisher.clone()));
    guard.renews(seconds(10), Verdict::Deny);
    let mut denied = listening(&client, "note://denied").await;
    assert_eq!(denied.next().await, None);
    assert_eq!(watched(&probe), [""; 0], "though the client still holds it");

    guard.says(Verdict::lasting(seconds(60)));
    let stalled = listening(&client, "note://stalled").await;
    assert_eq!(watched(&probe), ["stalled"]);
    publisher.resource_updated("note://stalled").unwrap();
    sleep(seconds(31)).await;
    assert_eq!(stalled.end_reason(), Some(EndReason::Stalled));
    assert_eq!(watched(&probe), [""; 0], "though nobody has dropped its response");

    let cut = listening(&client, "note://cut").await;
    assert!(!server.handle().shutdown().await.is_graceful());
    assert_eq!(watched(&probe), [""; 0]);
    drop((denied, stalled, cut));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_goes_while_its_watch_starts_leaves_none() {
    let (watcher, probe, _) = watcher();
    let (server, client) = built(builder().subscription_authorizer(allow_all()).watch_resources(watcher));
    let opening = tokio::spawn(client.listen().resource("note://a").resource("note://slow").open());
    probe.noted("+slow").await;
    assert_eq!(server.subscriptions().watched(), 2);
    opening.abort();
    assert!(opening.await.unwrap_err().is_cancelled());
    tokio::task::yield_now().await;
    assert_eq!(server.subscriptions().watched(), 0);
    assert!(probe.has("-a"));
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_does_not_start_is_refused_in_the_time_of_a_request() {
    let (watcher, probe, _) = watcher();
    let (server, client) = built(builder().subscription_authorizer(allow_all()).watch_resources(watcher));
    let began = tokio::time::Instant::now();
    assert_eq!(super::refused(client.listen().resource("note://slow").await), -32603);
    assert_eq!(began.elapsed(), seconds(60));
    assert!(probe.has("+slow"));
    assert_eq!((server.subscriptions().open(), server.subscriptions().watched()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_watch_tells_its_changes_to_all_who_listen() {
    let (watcher, _, publisher) = watcher();
    let builder = builder().publisher(publisher.clone()).subscription_authorizer(allow_all());
    let (_server, client) = built(builder.watch_resources(watcher));
    let mut first = listening(&client, "note://changing").await;
    let mut second = listening(&client, "note://changing").await;
    publisher.resource_updated("note://changing").unwrap();
    for stream in [&mut first, &mut second] {
        assert_eq!(heard(stream).await, Heard::resource("note://changing"));
        assert!(timeout(seconds(1), stream.next()).await.is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_whose_end_panics_harms_nobody() {
    let (watcher, probe, publisher) = watcher();
    let (server, client, guard) =
        guarded(|builder| builder.watch_resources(watcher).publisher(publisher.clone()));
    guard.rule(|check| {
        match check.is_first() || check.selection().uris().any(|uri| uri.as_str() == "note://a") {
            true => Verdict::lasting(seconds(10)),
            false => Verdict::Deny,
        }
    });
    let mut other = listening(&client, "note://a").await;
    let mut denied = listening(&client, "note://bad-end").await;
    assert_eq!(denied.next().await, None);
    let stalled = listening(&client, "note://bad-end").await;
    publisher.resource_updated("note://bad-end").unwrap();
    drop(stalled);
    assert_eq!(probe.notes().iter().filter(|note| *note == "-bad-end").count(), 2);
    sleep(seconds(60)).await;
    publisher.resource_updated("note://a").unwrap();
    assert_eq!(heard(&mut other).await, Heard::resource("note://a"));
    assert_eq!((server.subscriptions().open(), server.subscriptions().watched()), (1, 1));
}
