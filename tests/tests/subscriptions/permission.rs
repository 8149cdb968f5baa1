//! Who may listen: the first check, the lease, and the checks that renew it.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use mcp_runtime::{
    prelude::*,
    subscription::{EndReason, Grant, ResourceUri},
    testing::Heard,
};
use mcp_tests::{Event, Local, Message, seconds};
use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{
    Guard, assert_over, assert_silent, builder,
    guard::{Scope, Trusting, Verdict},
    guarded, heard, listening, named, refused,
};

fn uri(text: &str) -> ResourceUri {
    ResourceUri::new(text).expect("a URI")
}

fn local(guard: &Guard) -> Local {
    Local::guarded(builder().subscription_authorizer(guard.clone()).admission(Trusting))
}

fn listen() -> Message {
    Message::listen(json!({ "toolsListChanged": true, "resourceSubscriptions": ["note://1", "nobody://x"] }))
}

#[tokio::test(start_paused = true)]
async fn the_whole_candidate_is_checked_first_and_what_was_acknowledged_later() {
    let guard = Guard::new();
    guard.rule(|check| match check.is_first() {
        true => Verdict::Allow(Grant::lasting(seconds(10)).without(&[uri("note://2")])),
        false => Verdict::lasting(seconds(10)),
    });
    let local = local(&guard);
    let filter =
        json!({ "toolsListChanged": true, "resourceSubscriptions": ["note://%31", "note://2", "note://3"] });
    let message = Message::listen(filter).header("x-caller", "ada").header("x-evidence", "token");
    let mut stream = local.open(&message).await;
    let Some(Event::Message(acknowledged)) = stream.next().await else { panic!("no acknowledgement") };
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "toolsListChanged": true, "resourceSubscriptions": ["note://%31", "note://3"] })
    );
    let reading = async { while stream.next().await.is_some() {} };
    assert!(timeout(seconds(30), reading).await.is_err());
    let seen = guard.seen();
    let caller = Some("ada".to_owned());
    let all = |first: bool| seen.iter().filter(move |check| check.first == first);
    assert!(seen[0].first && all(true).count() == 1 && all(false).count() >= 3, "{seen:?}");
    assert_eq!(seen[0].selected, "t note://1 note://2 note://3");
    assert_eq!((&seen[0].header, &seen[0].caller), (&Some("token".to_owned()), &caller));
    for later in all(false) {
        assert_eq!(later.selected, "t note://1 note://3", "a selection never grows");
        assert_eq!((&later.header, &later.caller), (&None, &caller));
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_is_no_permission_opens_no_stream() {
    let guard = Guard::new();
    let local = local(&guard);
    let past = SystemTime::now() - seconds(1);
    for (verdict, (status, code), reason, after) in [
        (Verdict::Deny, (403, -32600), EndReason::Denied, 0),
        (Verdict::lasting(Duration::ZERO), (403, -32600), EndReason::Denied, 0),
        (Verdict::Allow(Grant::until(past)), (403, -32600), EndReason::Denied, 0),
        (Verdict::Fail, (500, -32603), EndReason::CheckFailed, 0),
        (Verdict::Panic, (500, -32603), EndReason::CheckFailed, 0),
        (Verdict::Panic.after(seconds(2)), (500, -32603), EndReason::CheckFailed, 2),
        (Verdict::Never, (500, -32603), EndReason::CheckFailed, 5),
    ] {
        guard.says(verdict);
        let (began, before) = (Instant::now(), local.subscriptions().ended(reason));
        let reply = local.send(&listen()).await;
        assert_eq!(reply.refusal(), (status, code), "{reply:?}");
        assert_eq!(began.elapsed(), seconds(after));
        let error = reply.error().to_string();
        assert!(!error.contains("database") && !error.contains("hunter2"), "{error}");
        assert_eq!(local.subscriptions().ended(reason), before + 1);
        assert_eq!(local.subscriptions().open(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_first_check_includes_waiting_for_its_turn() {
    let (server, client, guard) = guarded(|builder| builder.max_authorization_checks(1));
    guard.says(Verdict::lasting(seconds(60)).after(seconds(3)));
    let began = Instant::now();
    let opening = [1, 2, 3].map(|id| tokio::spawn(client.listen().resource(&format!("note://{id}")).open()));
    let [first, second, third] = opening;
    let first = first.await.unwrap().unwrap();
    assert_eq!(began.elapsed(), seconds(3));
    assert_eq!(refused(second.await.unwrap()), -32603);
    assert_eq!(refused(third.await.unwrap()), -32603);
    assert_eq!(began.elapsed(), seconds(5));
    assert_eq!(server.subscriptions().open(), 1);
    drop(first);
}

#[tokio::test(start_paused = true)]
async fn refused_resources_are_missing_as_unknown_ones_are() {
    let (_server, client, guard) = guarded(|builder| builder);
    guard.rule(|check| Verdict::Allow(Grant::lasting(seconds(60)).without(check.selection().uris())));
    let refused = client.listen().tools().resource("note://secret").await.unwrap();
    let unknown = client.listen().tools().resource("nobody://serves").await.unwrap();
    assert_eq!(refused.acknowledged(), unknown.acknowledged());
    assert_eq!(*refused.acknowledged(), json!({ "toolsListChanged": true }));
}

#[tokio::test(start_paused = true)]
async fn leaving_out_an_acknowledged_resource_ends_the_stream() {
    let (server, client, guard) = guarded(|builder| builder);
    let without = Grant::lasting(seconds(10)).without(&[uri("note://2")]);
    guard.renews(seconds(10), Verdict::Allow(without));
    let mut one = listening(&client, "note://1").await;
    let mut both = client.listen().resource("note://1").resource("note://2").await.unwrap();
    assert_eq!(both.next().await, None);
    assert_eq!(both.end_reason(), Some(EndReason::Denied));
    sleep(seconds(60)).await;
    server.publisher().resource_updated("note://1").unwrap();
    assert_eq!(heard(&mut one).await, Heard::resource("note://1"), "it does not concern the other");
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_is_no_permission_ends_the_stream() {
    for (verdict, reason, takes) in [
        (Verdict::Deny, EndReason::Denied, 0),
        (Verdict::lasting(Duration::ZERO), EndReason::Denied, 0),
        (Verdict::Fail, EndReason::CheckFailed, 0),
        (Verdict::Panic, EndReason::CheckFailed, 0),
        (Verdict::Never, EndReason::CheckFailed, 5),
    ] {
        let (server, client, guard) = guarded(|builder| builder);
        guard.renews(seconds(40), verdict);
        let mut stream = listening(&client, "note://1").await;
        let opened = Instant::now();
        assert_eq!(stream.next().await, None);
        assert_eq!(stream.end_reason(), Some(reason));
        assert_eq!(server.subscriptions().ended(reason), 1);
        assert_eq!(server.subscriptions().open(), 0);
        let renewed = guard.seen()[1].at;
        assert!((seconds(20)..=seconds(32)).contains(&(renewed - opened)), "ahead of the end");
        assert_eq!(renewed.elapsed(), seconds(takes));
        assert_over(&mut stream).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_the_shortest_of_three() {
    for (grant, most, lifetime, lease) in
        [(10, 60, 3600, 10), (3600, 60, 3600, 60), (3600, 20, 3600, 20), (u64::MAX, 60, 3600, 60)]
    {
        let (_server, client, guard) =
            guarded(|builder| builder.max_lease(seconds(most)).listen_lifetime(seconds(lifetime)));
        guard.renews(seconds(grant), Verdict::Deny);
        let mut stream = listening(&client, "note://1").await;
        let opened = Instant::now();
        assert_eq!(stream.next().await, None);
        let ahead = opened.elapsed();
        assert!((seconds(lease) / 2..seconds(lease)).contains(&ahead), "{ahead:?} of {lease} s");
        assert_eq!(stream.end_reason(), Some(EndReason::Denied));
    }
    // What is left of its lifetime needs no renewal.
    let (_server, client, guard) = guarded(|builder| builder.listen_lifetime(seconds(50)));
    let mut stream = listening(&client, "note://1").await;
    let opened = Instant::now();
    assert_eq!(stream.next().await, None);
    assert_eq!((opened.elapsed(), stream.end_reason()), (seconds(50), Some(EndReason::Lifetime)));
    assert_eq!(guard.checks(), 1);
}

#[tokio::test(start_paused = true)]
async fn time_that_passes_between_permission_and_stream_is_a_part_of_the_lease() {
    struct Slow;
    impl mcp_runtime::subscription::ResourceWatcher for Slow {
        type Watch = ();
        async fn watch(&self, _: &ResourceUri) -> Result<(), mcp_runtime::subscription::BoxError> {
            sleep(seconds(8)).await;
            Ok(())
        }
    }
    let (_server, client, guard) = guarded(|builder| builder.watch_resources(Slow));
    guard.renews(seconds(10), Verdict::Never);
    let began = Instant::now();
    let mut stream = listening(&client, "note://1").await;
    assert_eq!(began.elapsed(), seconds(8));
    let renewed = async {
        while guard.checks() < 2 {
            sleep(Duration::from_millis(10)).await
        }
    };
    renewed.await;
    assert!(began.elapsed() < seconds(10), "the permission has ended at {:?}", began.elapsed());
    assert_eq!(stream.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_renewed_in_time_never_pauses() {
    let (server, client, guard) = guarded(|builder| builder);
    guard.says(Verdict::lasting(seconds(10)));
    let mut stream = listening(&client, "note://1").await;
    for _ in 0..600 {
        sleep(Duration::from_millis(500)).await;
        server.publisher().resource_updated("note://1").unwrap();
        assert_eq!(heard(&mut stream).await, Heard::resource("note://1"));
    }
    let checks = guard.checks();
    assert!((30..=61).contains(&checks), "{checks} checks of a lease of 10 s in 300 s");
}

#[tokio::test(start_paused = true)]
async fn an_expired_lease_fences_at_once_and_a_late_renewal_delivers_what_was_kept() {
    let (server, client, guard) = guarded(|builder| builder);
    guard.renews(seconds(10), Verdict::lasting(seconds(60)).after(Duration::from_millis(4900)));
    // Of several streams some are renewed late in their leases.
    let mut streams = Vec::new();
    for id in 0..40 {
        streams.push(listening(&client, &format!("note://{id}")).await);
    }
    let opened = Instant::now();
    sleep(seconds(10) - Duration::from_millis(1)).await;
    let tell = |id: usize| server.publisher().resource_updated(&format!("note://{id}")).unwrap();
    (0..40).for_each(tell);
    for (id, stream) in streams.iter_mut().enumerate() {
        assert_eq!(heard(stream).await, Heard::resource(format!("note://{id}")), "its lease still holds");
    }
    sleep(Duration::from_millis(1)).await;
    assert_eq!(opened.elapsed(), seconds(10));
    let renewals: Vec<Instant> =
        guard.seen().iter().filter(|check| !check.first).map(|check| check.at).collect();
    assert_eq!(renewals.len(), 40, "each is being checked, or was");
    (0..40).for_each(|id| {
        tell(id);
        tell(id);
    });
    let mut reading = tokio::task::JoinSet::new();
    for (id, mut stream) in streams.into_iter().enumerate() {
        reading.spawn(async move {
            assert_eq!(stream.next().await, Some(Heard::resource(format!("note://{id}"))));
            let told = Instant::now();
            assert_silent(&mut stream).await;
            assert_eq!(stream.end_reason(), None);
            told
        });
    }
    let late = reading.join_all().await.into_iter().filter(|told| *told > opened + seconds(10));
    let late: Vec<Instant> = late.collect();
    // Those that were asked for in the first 5.1 s of the lease were there in time.
    assert!((30..40).contains(&late.len()), "{} of 40 were late", late.len());
    for told in late {
        let with_permission = renewals.iter().any(|at| *at + Duration::from_millis(4900) == told);
        assert!(with_permission, "told after {:?}", told - opened);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_too_short_to_be_renewed_expires() {
    let (server, client, guard) = guarded(|builder| builder);
    guard.says(Verdict::lasting(Duration::from_millis(50)));
    let mut stream = listening(&client, "note://1").await;
    let opened = Instant::now();
    assert_eq!(stream.next().await, None);
    assert_eq!(
        (opened.elapsed(), stream.end_reason()),
        (Duration::from_millis(50), Some(EndReason::Expired))
    );
    assert_eq!((server.subscriptions().ended(EndReason::Expired), guard.checks()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_gets_no_turn_expires_with_the_time_of_a_check() {
    let (server, client, guard) =
        guarded(|builder| builder.max_authorization_checks(1).authorization_timeout(seconds(20)));
    guard.renews(seconds(20), Verdict::Never);
    let mut first = listening(&client, "note://1").await;
    let mut second = listening(&client, "note://2").await;
    let opened = Instant::now();
    let ends = async |stream: &mut super::Listening| (stream.next().await, opened.elapsed());
    let (one, two) = tokio::join!(ends(&mut first), ends(&mut second));
    // The check of the first began after 10 s and took 20; that of the second had no turn before.
    assert_eq!([one, two], [(None, seconds(30)), (None, seconds(40))]);
    assert_eq!(first.end_reason(), Some(EndReason::CheckFailed));
    assert_eq!(second.end_reason(), Some(EndReason::Expired));
    assert_eq!(server.subscriptions().open(), 0);
}

#[tokio::test(start_paused = true)]
async fn comments_extend_no_lease() {
    let guard = Guard::new();
    guard.renews(seconds(20), Verdict::Never);
    let builder = builder().subscription_authorizer(guard.clone()).admission(Trusting);
    let local = Local::guarded(builder.keep_alive(seconds(1)));
    let mut stream = local.open(&listen()).await;
    let opened = Instant::now();
    let mut comments = 0;
    while let Some(event) = stream.next().await {
        comments += usize::from(event == Event::Comment);
    }
    assert!(comments > 10, "{comments}");
    assert_eq!(opened.elapsed(), guard.seen()[1].at + seconds(5) - opened);
    assert!(opened.elapsed() <= seconds(21), "{:?}", opened.elapsed());
    assert_eq!(local.subscriptions().ended(EndReason::CheckFailed), 1);
}

#[tokio::test(start_paused = true)]
async fn the_context_comes_back_as_the_same_until_another_one_is_given() {
    let (_server, client, guard) = guarded(|builder| builder);
    let (first, second) = (Arc::new("first".to_owned()), Arc::new("first".to_owned()));
    let contexts = [Some(Arc::clone(&first)), Some(Arc::clone(&second)), None];
    let given = Mutex::new(contexts.into_iter());
    guard.rule(move |check| {
        let grant = Grant::lasting(seconds(10));
        Verdict::Allow(match given.lock().unwrap().next() {
            Some(Some(context)) => grant.context(context),
            Some(None) => grant.same_context(check),
            None => grant,
        })
    });
    let _stream = listening(&client, "note://1").await;
    let opened = Instant::now();
    sleep_until(opened + seconds(60)).await;
    let contexts: Vec<_> = guard.seen().into_iter().map(|check| check.context).collect();
    let is = |at: usize, expected: &Arc<String>| {
        contexts[at].as_ref().is_some_and(|found| Arc::ptr_eq(found, expected))
    };
    assert!(contexts[0].is_none() && is(1, &first) && is(2, &second) && is(3, &second), "{contexts:?}");
    assert!(contexts[4..].iter().all(Option::is_none), "{contexts:?}");
}

#[tokio::test(start_paused = true)]
async fn an_authorizer_sees_what_admission_kept() {
    let (_server, client, guard) = guarded(|builder| builder);
    guard.rule(|check| match check.caller().get::<Scope>() {
        Some(Scope("listen")) => Verdict::lasting(seconds(10)),
        _ => Verdict::Deny,
    });
    let ada = named(&client, "ada");
    assert_eq!(refused(ada.listen().tools().await), -32600);
    assert_eq!(refused(ada.listen().tools().extension(Scope("call")).await), -32600);
    let mut allowed = ada.listen().tools().extension(Scope("listen")).await.unwrap();
    assert!(timeout(seconds(60), allowed.next()).await.is_err(), "later checks see it as well");
}
