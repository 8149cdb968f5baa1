//! Many renewals: spread over time, few at once, the most urgent first, and one for all that ask the same.

use std::{collections::BTreeMap, time::Duration};

use mcp_runtime::{
    subscription::{EndReason, Grant},
    testing::{Client, Listening},
};
use mcp_tests::seconds;
use tokio::time::{Instant, sleep};

use super::{
    guard::{Guard, Scope, Verdict},
    guarded, listening, named,
};

/// The most checks that began within any second.
fn busiest_second(checks: &[Instant]) -> usize {
    let mut most = 0;
    let mut from = 0;
    for (to, at) in checks.iter().enumerate() {
        while *at - checks[from] >= seconds(1) {
            from += 1;
        }
        most = most.max(to - from + 1);
    }
    most
}

async fn opened(client: &Client, count: usize) -> Vec<Listening> {
    let mut streams = Vec::new();
    for id in 0..count {
        streams.push(listening(client, &format!("note://{id}")).await);
    }
    streams
}

fn renewals(guard: &Guard) -> Vec<Instant> {
    guard.seen().iter().filter(|check| !check.first).map(|check| check.at).collect()
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_streams_that_are_opened_at_once_are_renewed_evenly() {
    const STREAMS: usize = 10_000;
    let (server, client, guard) = guarded(|builder| builder.max_listen_streams(None));
    let streams = opened(&client, STREAMS).await;
    let began = Instant::now();
    guard.says(Verdict::lasting(seconds(60)).after(Duration::from_millis(20)));
    sleep(seconds(300)).await;
    assert_eq!(server.subscriptions().open(), STREAMS);
    let renewals = renewals(&guard);
    let most = busiest_second(&renewals);
    println!(
        "{STREAMS} streams, {} renewals in 300 s: {most} within the busiest second, {} at once",
        renewals.len(),
        guard.most_at_once()
    );
    // A lease lies between half and four fifths of a minute: 555 a second are the least for the first round.
    assert!(most <= 700, "{most} within one second");
    assert!(guard.most_at_once() <= 64);
    assert!(renewals[0] - began >= seconds(30), "no sooner than needed");
    assert!(renewals.len() <= STREAMS * 10);
    drop(streams);
    assert_eq!(server.subscriptions().ended(EndReason::ClientGone), STREAMS);
}

#[tokio::test(start_paused = true)]
async fn the_lease_that_ends_first_is_renewed_first() {
    let (server, client, guard) = guarded(|builder| builder.max_authorization_checks(1));
    let lease = |uri: &str| seconds(uri.trim_start_matches("note://").parse().unwrap());
    guard.rule(move |check| {
        let uri = check.selection().uris().next().unwrap();
        Verdict::lasting(lease(uri.as_str())).after(Duration::from_millis(10))
    });
    let mut streams = Vec::new();
    for uri in ["note://40", "note://10", "note://50", "note://20", "note://30"] {
        streams.push(listening(&client, uri).await);
    }
    guard.forget();
    server.subscriptions().reconcile();
    sleep(seconds(1)).await;
    let order: Vec<String> = guard.seen().into_iter().map(|check| check.selected).collect();
    assert_eq!(order, ["note://10", "note://20", "note://30", "note://40", "note://50"]);
}

#[tokio::test(start_paused = true)]
async fn equal_checks_of_one_identified_caller_are_one() {
    let (server, client, guard) = guarded(|builder| builder);
    let (ada, bob) = (named(&client, "ada"), named(&client, "bob"));
    let scoped = |scope| ada.clone().extension(Scope(scope));
    let mut streams = Vec::new();
    for _ in 0..5 {
        for (client, uri) in [
            (&ada, "note://1"),
            (&ada, "note://2"),
            (&bob, "note://1"),
            (&client, "note://1"),
            (&scoped("some"), "note://1"),
            (&scoped("other"), "note://1"),
        ] {
            streams.push(listening(client, uri).await);
        }
    }
    guard.forget();
    guard.says(Verdict::lasting(seconds(60)).after(seconds(1)));
    server.subscriptions().reconcile();
    sleep(seconds(5)).await;
    let mut counts = BTreeMap::new();
    for check in guard.seen() {
        *counts.entry((check.caller.unwrap_or_default(), check.selected)).or_insert(0) += 1;
    }
    let count = |caller: &str, uri: &str| counts.get(&(caller.to_owned(), uri.to_owned())).copied();
    assert_eq!(count("bob", "note://1"), Some(1));
    assert_eq!(count("ada", "note://2"), Some(1));
    assert_eq!(
        count("ada", "note://1"),
        Some(1 + 5 + 5),
        "what admission kept may differ, so it is not shared"
    );
    assert_eq!(count("", "note://1"), Some(5), "nobody knows who they are");
    for stream in &streams {
        assert_eq!(stream.end_reason(), None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_shared_denial_ends_all_and_a_context_divides() {
    let (server, client, guard) = guarded(|builder| builder);
    let ada = named(&client, "ada");
    guard.rule(|check| match check.is_first() {
        true if check.selection().tools() => {
            Verdict::Allow(Grant::lasting(seconds(60)).context(std::sync::Arc::new("own".to_owned())))
        }
        true => Verdict::lasting(seconds(60)),
        false => Verdict::Deny.after(seconds(1)),
    });
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(listening(&ada, "note://1").await);
        streams.push(ada.listen().tools().await.unwrap());
    }
    guard.forget();
    server.subscriptions().reconcile();
    for stream in &mut streams {
        assert_eq!(stream.next().await, None);
        assert_eq!(stream.end_reason(), Some(EndReason::Denied));
    }
    let selected = |what: &str| guard.seen().iter().filter(|check| check.selected == what).count();
    assert_eq!((selected("note://1"), selected("t")), (1, 3));
}

#[tokio::test(start_paused = true)]
async fn a_slow_authorizer_with_few_turns_ends_no_stream_whose_lease_holds() {
    let (server, client, guard) = guarded(|builder| builder.max_authorization_checks(1));
    let streams = opened(&client, 30).await;
    let began = Instant::now();
    guard.says(Verdict::lasting(seconds(60)).after(Duration::from_millis(900)));
    sleep(seconds(600)).await;
    assert_eq!(server.subscriptions().open(), 30);
    assert_eq!(guard.most_at_once(), 1);
    let renewals = renewals(&guard);
    // 27 s for all of them: many waited longer than a check may take.
    assert!(renewals.iter().filter(|at| **at - began < seconds(60)).count() >= 30);
    drop(streams);
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_checks_goes_by_the_ends_of_the_leases() {
    let (server, client, guard) = guarded(|builder| builder.max_authorization_checks(2));
    let streams = opened(&client, 60).await;
    guard.says(Verdict::lasting(seconds(60)).after(seconds(1)));
    // All are fenced, and the last ones wait for half a minute: longer than any check, and within their leases.
    server.subscriptions().reconcile();
    sleep(seconds(31)).await;
    assert_eq!(server.subscriptions().open(), 60);
    assert!(renewals(&guard).len() >= 60);
    drop(streams);
}

#[tokio::test(start_paused = true)]
async fn who_has_gone_is_not_checked() {
    let (server, client, guard) = guarded(|builder| builder.max_authorization_checks(1));
    let mut streams = opened(&client, 10).await;
    guard.forget();
    guard.says(Verdict::lasting(seconds(60)).after(seconds(1)));
    server.subscriptions().reconcile();
    tokio::task::yield_now().await;
    streams.truncate(2);
    sleep(seconds(20)).await;
    assert!(guard.checks() <= 3, "{}", guard.checks());
}
