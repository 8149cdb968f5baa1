//! Whole servers, and the streams of their clients.

use std::collections::BTreeSet;

use mcp_runtime::{
    prelude::*,
    subscription::allow_all,
    testing::{Client, Heard, Listening},
};
use mcp_tests::{eventually, seconds};
use tokio::time::timeout;

use crate::{
    broker::Broker,
    server::{FleetPublisher, quick},
};

#[mcp_endpoint(path = "/mcp", name = "notes", version = "1.0.0", changes(updates))]
struct Notes;

/// A note.
#[mcp_resource(endpoint = Notes, uri = "note://{id}")]
async fn note(id: String) -> String {
    format!("note {id}")
}

/// Writes a note.
#[mcp_tool(endpoint = Notes)]
async fn write(id: String, publisher: Publisher) -> Result<&'static str, ToolError> {
    publisher.resource_updated(&format!("note://{id}"))?;
    Ok("written")
}

fn server(publisher: impl ChangePublisher) -> McpServer {
    let builder = McpServer::builder().select::<Notes>().publisher(publisher);
    builder.subscription_authorizer(allow_all()).build().expect("a server")
}

async fn listen(client: &Client) -> Listening {
    client.listen().resource("note://7").resource("note://8").open().await.expect("a stream")
}

async fn hears(stream: &mut Listening) -> Heard {
    timeout(seconds(20), stream.next()).await.expect("something is heard").expect("it goes on")
}

pub async fn a_tool_tells_the_streams_of_all_servers<P: FleetPublisher>() {
    let Some(mut broker) = Broker::start(P::KIND).await else { return };
    let publishers = [(); 2].map(|()| P::connect(&broker.url(), quick()).expect("a publisher"));
    let connected = || publishers.iter().all(|publisher| publisher.status().connected);
    let [here, there] = publishers.clone().map(|publisher| Client::new(&server(publisher)));
    eventually("both are connected", connected).await;
    let (mut at_home, mut away) = (listen(&here).await, listen(&there).await);

    here.call("write").arg("id", "7").await.expect("it is written");
    assert_eq!(hears(&mut at_home).await, Heard::resource("note://7"));
    assert_eq!(hears(&mut away).await, Heard::resource("note://7"));

    broker.kill().await;
    eventually("it is noticed", || publishers.iter().all(|publisher| !publisher.status().connected)).await;
    here.call("write").arg("id", "8").await.expect("it is written");
    assert_eq!(hears(&mut at_home).await, Heard::resource("note://8"));

    // Whatever else may have changed meanwhile is told as well.
    broker.restart().await;
    let mut told = BTreeSet::new();
    while told.len() < 2 {
        told.insert(format!("{:?}", hears(&mut away).await));
    }
    eventually("all is confirmed", || publishers.iter().all(|publisher| publisher.status().pending == 0))
        .await;
}
