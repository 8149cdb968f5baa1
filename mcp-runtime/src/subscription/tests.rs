//! What is kept of streams: nothing, once they are gone.

use std::time::Duration;

use proptest::{collection::vec, prelude::*};
use tokio::time::sleep;

use super::{BoxError, EndReason, Grant, Permission, SubscriptionAuthorizer, SubscriptionCheck};
use crate::{
    McpServer,
    handler::Caller,
    prelude::*,
    testing::{Client, Listening},
};

/// Denies what is renewed for the third time, unless it is about lists alone.
struct Twice;

impl SubscriptionAuthorizer for Twice {
    async fn authorize(&self, check: &SubscriptionCheck<'_>) -> Result<Permission, BoxError> {
        sleep(Duration::from_millis(10)).await;
        let times = check.context::<u32>().map_or(0, |times| *times);
        let grant = Grant::lasting(Duration::from_secs(10)).context(std::sync::Arc::new(times + 1));
        let allowed = times < 3 || check.selection().uris().len() == 0;
        Ok(if allowed { grant.into() } else { Permission::Denied })
    }
}

#[derive(Clone)]
struct Name(&'static str);

struct ByName;

impl Admission for ByName {
    async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        Ok(request.extension().map_or_else(Caller::anonymous, |Name(name)| Caller::identified(*name)))
    }
}

fn server(change: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (McpServer, Client) {
    let note = Resource::new("note://{id}", "note").handler(async || "note");
    let endpoint = Endpoint::builder("/mcp").resource(note).changes(ChangeKind::ALL);
    let builder = McpServer::builder().endpoint(endpoint).subscription_authorizer(Twice).admission(ByName);
    let server = change(builder).build().unwrap();
    let client = Client::new(&server);
    (server, client)
}

/// Streams, index entries, timers, waiting checks, callers and places.
fn census(server: &McpServer) -> Vec<usize> {
    let hub = &server.endpoints[0].now().shared.subscriptions;
    let census = hub.lock().census();
    census.to_vec()
}

async fn listening(client: &Client, uris: &[u8]) -> Listening {
    let listen =
        uris.iter().fold(client.listen().tools(), |listen, id| listen.resource(&format!("note://{id}")));
    listen.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_thousand_rounds_leave_no_stream_timer_or_index_entry() {
    let (server, client) = server(|builder| builder);
    let ada = client.clone().extension(Name("ada"));
    // What many share is not given up as a whole while somebody stays.
    let stays = ada.listen().tools().prompts().await.unwrap();
    let kept = || {
        let counts = census(&server);
        assert!(counts[2] <= 1 && counts[3] <= 1, "timers and checks of one stream: {counts:?}");
        [counts[0], counts[1], counts[4], counts[5]]
    };
    let before = kept();
    assert_eq!(before, [1, 2, 1, 1], "a stream, in the index of two lists, of one caller, in one place");
    for round in 0..1000_u32 {
        let id = (round % 7) as u8;
        let mut stream = listening(&ada, &[id, id + 1, 200]).await;
        assert_eq!(census(&server)[0], 2);
        drop(listening(&client, &[id]).await);
        assert_eq!(stays.end_reason(), None);
        server.publisher().resource_updated(&format!("note://{id}")).unwrap();
        match round % 4 {
            0 => assert!(stream.next().await.is_some()),
            1 => server.subscriptions().reconcile(),
            2 if round % 100 == 2 => sleep(Duration::from_secs(40)).await,
            _ => {}
        }
        drop(stream);
        assert_eq!(kept(), before, "round {round}");
    }
    drop(stays);
    // A check may still be under way for a stream that has gone.
    sleep(Duration::from_secs(1)).await;
    assert_eq!(census(&server), [0; 6]);
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), 0, "the keeper is gone, too");
}

#[tokio::test(start_paused = true)]
async fn every_kind_of_end_leaves_nothing() {
    let (server, client) = server(|builder| builder.listen_lifetime(Duration::from_secs(20)));
    let ada = client.clone().extension(Name("ada"));
    let mut read = listening(&ada, &[1, 2]).await;
    let unread = listening(&ada, &[2, 3]).await;
    server.publisher().resource_updated("note://3").unwrap();
    assert_eq!(read.next().await, None);
    sleep(Duration::from_secs(31)).await;
    assert!(census(&server).iter().all(|count| *count == 0), "{:?}", census(&server));
    assert_eq!(read.end_reason(), Some(EndReason::Lifetime));
    assert!(unread.end_reason().is_some());
    drop((read, unread));
    assert!(census(&server).iter().all(|count| *count == 0));
    assert_eq!(server.subscriptions().open(), 0);
}

/// What happens to a server's streams.
#[derive(Clone, Debug)]
enum Step {
    Open(Vec<u8>, bool),
    Close(usize),
    Read(usize),
    Publish(u8),
    Reconcile,
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (vec(0..6_u8, 0..4), any::<bool>()).prop_map(|(uris, named)| Step::Open(uris, named)),
        2 => (0..8_usize).prop_map(Step::Close),
        4 => (0..8_usize).prop_map(Step::Read),
        4 => (0..6_u8).prop_map(Step::Publish),
        2 => Just(Step::Reconcile),
        2 => (1..15_000_u64).prop_map(Step::Pass),
        2 => (0..5_u64).prop_map(Step::Pass),
    ];
    vec(step, 1..40)
}

async fn run(steps: Vec<Step>) {
    let (server, client) = server(|builder| builder.max_authorization_checks(2));
    let ada = client.clone().extension(Name("ada"));
    let mut streams: Vec<Listening> = Vec::new();
    for step in steps {
        match step {
            Step::Open(uris, named) => {
                streams.push(listening(if named { &ada } else { &client }, &uris).await);
            }
            Step::Close(number) if number < streams.len() => drop(streams.swap_remove(number)),
            Step::Read(number) => {
                if let Some(stream) = streams.get_mut(number) {
                    let _ = tokio::time::timeout(Duration::ZERO, stream.next()).await;
                }
            }
            Step::Publish(id) => server.publisher().resource_updated(&format!("note://{id}")).unwrap(),
            Step::Reconcile => server.subscriptions().reconcile(),
            Step::Pass(milliseconds) => sleep(Duration::from_millis(milliseconds)).await,
            Step::Close(_) => {}
        }
        let counts = census(&server);
        assert_eq!(counts[0], server.subscriptions().open());
        assert_eq!((counts[5], counts[2] <= counts[0]), (counts[0], true), "{counts:?}");
        assert!(counts[0] <= streams.len());
    }
    drop(streams);
    assert!(census(&server).iter().all(|count| *count == 0), "{:?}", census(&server));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn whatever_happens_nothing_is_left(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.unwrap().block_on(run(steps));
    }
}
