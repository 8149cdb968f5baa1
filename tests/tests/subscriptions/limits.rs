//! How many streams there may be, and whose.

use mcp_runtime::{
    McpServer,
    prelude::*,
    subscription::{EndReason, allow_all},
};
use mcp_tests::{Local, Message, endpoint, seconds};
use serde_json::json;
use tokio::time::sleep;

use super::{
    Client, builder, built,
    guard::{Trusting, Verdict},
    guarded, listening, named, refused,
};

#[tokio::test(start_paused = true)]
async fn a_full_server_refuses_and_a_place_is_free_the_moment_its_client_goes() {
    let builder = builder().subscription_authorizer(allow_all()).max_listen_streams(2);
    let local = Local::new(builder);
    let listen = Message::listen(json!({ "toolsListChanged": true }));
    let first = local.open(&listen).await;
    let second = local.open(&listen).await;
    for refused in 1..=2 {
        let reply = local.send(&listen).await;
        assert_eq!(reply.refusal(), (503, -32603));
        assert_eq!(reply.header("retry-after"), Some("1"));
        assert_eq!(local.subscriptions().ended(EndReason::Capacity), refused);
        assert_eq!(local.subscriptions().open(), 2);
    }
    drop(first);
    assert_eq!(local.subscriptions().open(), 1, "nothing was awaited");
    let third = local.open(&listen).await;
    assert_eq!(third.status, 200);
    drop((second, third));
    assert_eq!(local.subscriptions().open(), 0);
    assert_eq!(local.subscriptions().ended(EndReason::ClientGone), 3);
}

#[tokio::test(start_paused = true)]
async fn an_identified_caller_has_a_bound_of_its_own_at_each_endpoint() {
    let other = Endpoint::builder("/other")
        .name("other")
        .version("1")
        .tool(Tool::new("t").handler(async || "t"))
        .changes([ChangeKind::Tools]);
    let builder = builder().endpoint(other).subscription_authorizer(allow_all()).admission(Trusting);
    let server = builder.max_listen_streams_per_caller(2).build().unwrap();
    let (here, there) = (Client::at(&server, "/mcp"), Client::at(&server, "/other"));
    let (ada, bob) = (named(&here, "ada"), named(&here, "bob"));
    let mut streams = Vec::new();
    for client in [&ada, &ada, &bob, &bob, &named(&there, "ada"), &named(&there, "ada")] {
        streams.push(client.listen().tools().await.unwrap());
    }
    for client in [&ada, &bob, &named(&there, "ada")] {
        assert_eq!(refused(client.listen().tools().await), -32603);
    }
    for _ in 0..10 {
        streams.push(here.listen().tools().await.unwrap());
    }
    drop(streams.remove(0));
    let again = ada.listen().tools().await.unwrap();
    assert_eq!(refused(ada.listen().tools().await), -32603);
    assert_eq!(server.subscriptions().ended(EndReason::Capacity), 4);
    drop((streams, again));
    assert_eq!(server.subscriptions().open(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_defaults_are_1000_a_server_and_32_a_caller() {
    let (server, client, _) = guarded(|builder| builder);
    let ada = named(&client, "ada");
    let mut streams = Vec::new();
    for _ in 0..32 {
        streams.push(ada.listen().tools().await.unwrap());
    }
    assert_eq!(refused(ada.listen().tools().await), -32603);
    for _ in 32..1000 {
        streams.push(client.listen().tools().await.unwrap());
    }
    assert_eq!(refused(client.listen().tools().await), -32603);
    assert_eq!(server.subscriptions().open(), 1000);
}

#[tokio::test(start_paused = true)]
async fn both_bounds_can_be_lifted() {
    let (server, client, _) =
        guarded(|builder| builder.max_listen_streams(None).max_listen_streams_per_caller(None));
    let ada = named(&client, "ada");
    let mut streams = Vec::new();
    for _ in 0..1100 {
        streams.push(ada.listen().tools().await.unwrap());
    }
    assert_eq!(server.subscriptions().open(), 1100);
}

#[tokio::test(start_paused = true)]
async fn streams_that_are_being_opened_count_and_free_their_places_when_their_clients_go() {
    let (server, client, guard) =
        guarded(|builder| builder.max_listen_streams(2).max_listen_streams_per_caller(1));
    guard.says(Verdict::lasting(seconds(60)).after(seconds(3)));
    let (ada, bob) = (named(&client, "ada"), named(&client, "bob"));
    let opening = tokio::spawn(ada.listen().tools().open());
    sleep(seconds(1)).await;
    assert_eq!(refused(ada.listen().tools().await), -32603, "one of ada's is being opened");
    let other = tokio::spawn(bob.listen().tools().open());
    sleep(seconds(1)).await;
    assert_eq!(refused(client.listen().tools().await), -32603, "both places are taken");
    opening.abort();
    assert!(opening.await.unwrap_err().is_cancelled());
    tokio::task::yield_now().await;
    let again = ada.listen().tools().await.unwrap();
    let other = other.await.unwrap().unwrap();
    assert_eq!(server.subscriptions().open(), 2);
    drop((again, other));
}

#[tokio::test(start_paused = true)]
async fn a_refused_check_frees_its_place() {
    let (server, client, guard) = guarded(|builder| builder.max_listen_streams(1));
    for verdict in [Verdict::Deny, Verdict::Fail, Verdict::Panic, Verdict::Never] {
        guard.says(verdict);
        assert!(client.listen().tools().await.is_err());
        guard.says(Verdict::lasting(seconds(60)));
        assert!(client.listen().tools().await.is_ok());
    }
    assert_eq!(server.subscriptions().open(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_the_server_ends_frees_its_place_when_its_result_is_taken() {
    let (server, client, guard) = guarded(|builder| builder.max_listen_streams(1));
    guard.renews(seconds(10), Verdict::Deny);
    let mut first = listening(&client, "note://1").await;
    sleep(seconds(10)).await;
    assert_eq!(first.end_reason(), Some(EndReason::Denied));
    assert_eq!(first.next().await, None);
    assert_eq!(server.subscriptions().open(), 0);
    assert!(client.listen().tools().await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn no_place_at_all_is_a_bound_as_well() {
    for builder in
        [builder().max_listen_streams(0), builder().max_listen_streams(5).max_listen_streams_per_caller(0)]
    {
        let (server, client) = built(builder.subscription_authorizer(allow_all()).admission(Trusting));
        assert_eq!(refused(named(&client, "ada").listen().tools().await), -32603);
        assert_eq!(server.subscriptions().open(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn streams_take_no_places_of_handlers() {
    let endpoint = endpoint().tool(Tool::new("t").handler(async || "t")).changes([ChangeKind::Tools]);
    let builder = McpServer::builder().endpoint(endpoint).subscription_authorizer(allow_all());
    let (server, client) =
        built(builder.max_concurrent_handlers(1).max_blocking_handlers(1).handler_queue(0));
    let mut streams = Vec::new();
    for _ in 0..10 {
        streams.push(client.listen().tools().await.unwrap());
    }
    assert_eq!(client.call("t").await.unwrap().text(), "t");
    assert_eq!(server.handle().running(), 0);
}
