//! `reconcile()`: nothing is delivered before permission has come anew.

use mcp_runtime::{
    McpServer,
    prelude::*,
    subscription::{BoxError, EndReason, ResourceUri, ResourceWatcher},
    testing::Heard,
};
use mcp_tests::{Probe, seconds};
use tokio::{
    task::yield_now,
    time::{Instant, sleep, timeout},
};

use super::{
    assert_over, assert_silent, builder, built, guard::Verdict, guarded, heard, listening, open_server,
};

fn tell(server: &McpServer, uri: &str) {
    server.publisher().resource_updated(uri).expect("nobody fails");
}

#[tokio::test(start_paused = true)]
async fn what_changes_during_a_fence_is_told_once_with_the_permission() {
    let (server, client, guard) = guarded(|builder| builder);
    guard.renews(seconds(60), Verdict::lasting(seconds(60)).after(seconds(2)));
    let mut stream = client.listen().resource("note://1").resource("note://2").await.unwrap();
    tell(&server, "note://1");
    server.subscriptions().reconcile();
    // Nothing was awaited: what was queued is fenced as well.
    for uri in ["note://2", "note://1", "note://2"] {
        tell(&server, uri);
    }
    let fenced = Instant::now();
    assert!(timeout(seconds(1), stream.next()).await.is_err(), "told within the fence");
    assert_eq!(stream.next().await, Some(Heard::resource("note://1")));
    assert_eq!(fenced.elapsed(), seconds(2));
    assert_eq!(heard(&mut stream).await, Heard::resource("note://2"));
    assert_silent(&mut stream).await;
    assert_eq!(guard.checks(), 2);
    tell(&server, "note://1");
    assert_eq!(heard(&mut stream).await, Heard::resource("note://1"), "it goes on");
}

#[tokio::test(start_paused = true)]
async fn what_changes_during_a_fence_is_dropped_with_a_denial() {
    for (verdict, reason) in [(Verdict::Deny, EndReason::Denied), (Verdict::Panic, EndReason::CheckFailed)] {
        let (server, client, guard) = guarded(|builder| builder);
        guard.renews(seconds(60), verdict.after(seconds(2)));
        let mut stream = listening(&client, "note://1").await;
        tell(&server, "note://1");
        server.subscriptions().reconcile();
        tell(&server, "note://1");
        let fenced = Instant::now();
        assert_eq!(stream.next().await, None);
        assert_eq!((fenced.elapsed(), stream.end_reason()), (seconds(2), Some(reason)));
        assert_over(&mut stream).await;
        assert_eq!(server.subscriptions().ended(reason), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_check_that_began_before_is_made_again() {
    let (server, client, guard) = guarded(|builder| builder);
    guard.renews(seconds(60), Verdict::lasting(seconds(60)).after(seconds(2)));
    let mut stream = listening(&client, "note://1").await;
    server.subscriptions().reconcile();
    sleep(seconds(1)).await;
    server.subscriptions().reconcile();
    server.subscriptions().reconcile();
    tell(&server, "note://1");
    let fenced = Instant::now();
    assert_eq!(stream.next().await, Some(Heard::resource("note://1")));
    assert_eq!(fenced.elapsed(), seconds(3), "the first check ends after 1 s and proves nothing");
    assert_eq!(guard.checks(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_denial_by_a_check_that_began_before_counts() {
    let (server, client, guard) = guarded(|builder| builder);
    guard.renews(seconds(60), Verdict::Deny.after(seconds(2)));
    let mut stream = listening(&client, "note://1").await;
    server.subscriptions().reconcile();
    sleep(seconds(1)).await;
    server.subscriptions().reconcile();
    assert_eq!(stream.next().await, None);
    assert_eq!((stream.end_reason(), guard.checks()), (Some(EndReason::Denied), 2));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_being_checked_for_the_first_time_is_checked_again() {
    let (server, client, guard) = guarded(|builder| builder);
    guard.says(Verdict::lasting(seconds(60)).after(seconds(2)));
    let began = Instant::now();
    let opening = tokio::spawn(client.listen().resource("note://1").open());
    sleep(seconds(1)).await;
    server.subscriptions().reconcile();
    let mut stream = opening.await.unwrap().unwrap();
    assert_eq!(began.elapsed(), seconds(4));
    let firsts: Vec<bool> = guard.seen().iter().map(|check| check.first).collect();
    assert_eq!(firsts, [true, true]);
    tell(&server, "note://1");
    assert_eq!(heard(&mut stream).await, Heard::resource("note://1"));
    sleep(seconds(10)).await;
    assert_eq!(guard.checks(), 2);
}

/// Starts to watch when it is permitted to.
struct Led(Probe);

impl ResourceWatcher for Led {
    type Watch = ();

    async fn watch(&self, _: &ResourceUri) -> Result<(), BoxError> {
        self.0.note("starting");
        self.0.permitted().await;
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_revoked_between_check_and_acknowledgement_waits_for_another_check() {
    for allowed in [true, false] {
        let probe = Probe::new();
        let (server, client, guard) = guarded(|builder| builder.watch_resources(Led(probe.clone())));
        let verdict = if allowed { Verdict::lasting(seconds(60)) } else { Verdict::Deny };
        guard.renews(seconds(60), verdict.after(seconds(2)));
        let _other = client.listen().tools().await.unwrap();
        let opening = tokio::spawn(client.listen().resource("note://1").open());
        probe.noted("starting").await;
        server.subscriptions().reconcile();
        // By then, all that were open are being checked, and nobody looks again.
        sleep(seconds(1)).await;
        probe.permit();
        let began = Instant::now();
        let mut stream = opening.await.unwrap().unwrap();
        assert_eq!(began.elapsed(), seconds(2), "not acknowledged before it is allowed");
        assert_eq!(guard.seen().iter().filter(|check| check.selected == "note://1").count(), 2);
        if allowed {
            tell(&server, "note://1");
            assert_eq!(heard(&mut stream).await, Heard::resource("note://1"));
        } else {
            assert_over(&mut stream).await;
            assert_eq!(stream.end_reason(), Some(EndReason::Denied));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn all_streams_are_checked_once_each_and_few_at_a_time() {
    let (server, client, guard) = guarded(|builder| builder.max_authorization_checks(10));
    let mut streams = Vec::new();
    for id in 0..500 {
        streams.push(listening(&client, &format!("note://{id}")).await);
    }
    guard.forget();
    guard.renews(seconds(60), Verdict::lasting(seconds(60)).after(std::time::Duration::from_millis(20)));
    server.subscriptions().reconcile();
    (0..500).for_each(|id| tell(&server, &format!("note://{id}")));
    for (id, stream) in streams.iter_mut().enumerate() {
        assert_eq!(stream.next().await, Some(Heard::resource(format!("note://{id}"))));
    }
    assert_eq!((guard.checks(), guard.most_at_once()), (500, 10));
}

#[tokio::test(start_paused = true)]
async fn a_fence_without_streams_leaves_nothing_behind() {
    let (server, client, guard) = guarded(|builder| builder);
    server.subscriptions().reconcile();
    let mut stream = listening(&client, "note://1").await;
    tell(&server, "note://1");
    assert_eq!(heard(&mut stream).await, Heard::resource("note://1"));
    sleep(seconds(5)).await;
    assert_eq!(guard.checks(), 1);
    drop(stream);
    yield_now().await;
    server.subscriptions().reconcile();
    let _stream = listening(&client, "note://1").await;
    sleep(seconds(5)).await;
    assert_eq!(guard.checks(), 2);
}

#[tokio::test(start_paused = true)]
async fn where_all_is_allowed_nothing_is_fenced() {
    let (server, client) = open_server();
    let mut stream = listening(&client, "note://1").await;
    server.subscriptions().reconcile();
    tell(&server, "note://1");
    assert_eq!(heard(&mut stream).await, Heard::resource("note://1"));
}

#[tokio::test(start_paused = true)]
async fn a_stream_whose_lease_needs_no_renewal_is_fenced_too() {
    let (server, client, guard) = guarded(|builder| builder.listen_lifetime(seconds(30)));
    guard.renews(seconds(60), Verdict::Deny.after(seconds(2)));
    let mut stream = listening(&client, "note://1").await;
    server.subscriptions().reconcile();
    tell(&server, "note://1");
    assert_eq!(stream.next().await, None);
    assert_eq!(stream.end_reason(), Some(EndReason::Denied));
}

#[tokio::test(start_paused = true)]
async fn one_server_is_not_fenced_by_another() {
    let (_other, other_client, other_guard) = guarded(|builder| builder);
    let (server, client, _) = guarded(|builder| builder);
    let _stream = listening(&client, "note://1").await;
    let _other_stream = listening(&other_client, "note://1").await;
    server.subscriptions().reconcile();
    sleep(seconds(5)).await;
    assert_eq!(other_guard.checks(), 1);
    let denying = builder().subscription_authorizer(mcp_runtime::subscription::deny_all());
    let (denying, _) = built(denying);
    denying.subscriptions().reconcile();
}
