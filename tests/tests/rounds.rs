//! Many clients that come and go leave nothing behind. Alone in its process, whose memory it measures.

use std::time::Duration;

use mcp_runtime::{
    McpServer,
    prelude::*,
    subscription::{
        BoxError, EndReason, Grant, InMemoryPublisher, Permission, ResourceUri, ResourceWatcher,
        SubscriptionAuthorizer, SubscriptionCheck,
    },
    testing::{Client, Heard},
};
use mcp_tests::{Event, Message, Served, endpoint, eventually, seconds};
use serde_json::json;

const ROUNDS: usize = 1000;
/// Each stream listens to so many: a stream that stays, or its entries in the index, would be seen.
const RESOURCES: usize = 100;

struct Everybody;

impl SubscriptionAuthorizer for Everybody {
    async fn authorize(&self, _: &SubscriptionCheck<'_>) -> Result<Permission, BoxError> {
        Ok(Grant::lasting(seconds(60)).into())
    }
}

struct Everything;

impl ResourceWatcher for Everything {
    type Watch = Vec<u8>;

    async fn watch(&self, _: &ResourceUri) -> Result<Vec<u8>, BoxError> {
        Ok(vec![0; 1000])
    }
}

fn builder(publisher: &InMemoryPublisher) -> ServerBuilder {
    let note = Resource::new("note://{id}", "note").handler(async || "note");
    McpServer::builder()
        .endpoint(endpoint().resource(note).changes(ChangeKind::ALL))
        .publisher(publisher.clone())
        .subscription_authorizer(Everybody)
        .watch_resources(Everything)
}

fn uris(round: usize) -> Vec<String> {
    (0..RESOURCES).map(|id| format!("note://{round}-{id}")).collect()
}

fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// Resident memory in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

async fn in_process(client: &Client, publisher: &InMemoryPublisher, round: usize) {
    let uris = uris(round);
    let mut listening =
        client.listen().tools().filter("resourceSubscriptions", uris.clone()).await.expect("a stream");
    publisher.resource_updated(&uris[7]).expect("nobody fails");
    assert_eq!(listening.next().await, Some(Heard::resource(&*uris[7])));
    publisher.resource_updated(&uris[8]).expect("nobody fails");
}

async fn over_a_socket(served: &Served, publisher: &InMemoryPublisher, round: usize) {
    let uris = uris(round);
    let mut connection = served.connect().await;
    connection
        .send(&Message::listen(json!({ "toolsListChanged": true, "resourceSubscriptions": uris })))
        .await;
    assert_eq!(connection.head().await.status, 200);
    connection.event().await.expect("the acknowledgement");
    publisher.resource_updated(&uris[7]).expect("nobody fails");
    let event = connection.event().await.and_then(Event::into_message).expect("a message");
    assert_eq!(event["params"]["uri"], uris[7]);
    publisher.resource_updated(&uris[8]).expect("nobody fails");
}

#[tokio::test]
async fn a_thousand_rounds_leave_nothing_behind() {
    let publisher = InMemoryPublisher::new();
    let server = builder(&publisher).build().unwrap();
    let client = Client::new(&server);
    let before = tasks();
    for round in 0..ROUNDS / 5 {
        in_process(&client, &publisher, round).await;
    }
    let warm = resident();
    for round in 0..ROUNDS {
        in_process(&client, &publisher, round).await;
        assert_eq!(
            (server.subscriptions().open(), server.subscriptions().watched()),
            (0, 0),
            "the moment it goes"
        );
    }
    eventually("no task is left", || tasks() == before).await;
    let grown = resident().saturating_sub(warm);
    println!("in the process: {ROUNDS} rounds, {grown} KiB more");
    assert!(grown < 2048, "{grown} KiB more");
    assert_eq!(server.subscriptions().ended(EndReason::ClientGone), ROUNDS + ROUNDS / 5);

    let served = Served::start(builder(&publisher)).await;
    drop(served.send(&Message::request("tools/list")).await);
    let idle = || served.subscriptions().open() == 0 && served.subscriptions().watched() == 0;
    for round in 0..ROUNDS / 5 {
        over_a_socket(&served, &publisher, round).await;
    }
    eventually("all have gone", idle).await;
    tokio::time::timeout(seconds(20), async {
        while tasks() > before + 1 {
            tokio::time::sleep(Duration::from_millis(2)).await
        }
    })
    .await
    .expect("only the server itself is left");
    let (before, warm) = (tasks(), resident());
    for round in 0..ROUNDS {
        over_a_socket(&served, &publisher, round).await;
    }
    eventually("all have gone", idle).await;
    eventually("no task is left", || tasks() == before).await;
    let grown = resident().saturating_sub(warm);
    println!("over sockets: {ROUNDS} rounds, {grown} KiB more");
    assert!(grown < 2048, "{grown} KiB more");
    assert_eq!(served.subscriptions().ended(EndReason::ClientGone), ROUNDS + ROUNDS / 5);
    assert_eq!(publisher.listeners(), 2);
}
