//! Listens to a resource of the server at the URL given, with `rmcp`.

use anyhow::{Context, bail, ensure};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt,
    model::{CallToolRequestParams, ProtocolVersion, ServerNotification, SubscriptionFilter},
    transport::StreamableHttpClientTransport,
};
use serde_json::{Value, json};

const URI: &str = "bench://item/7";

struct Client;

impl ClientHandler for Client {}

fn call(name: &'static str, arguments: Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    CallToolRequestParams::new(name).with_arguments(arguments)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let url = std::env::args().nth(1).context("no URL")?;
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let transport = StreamableHttpClientTransport::from_uri(url);
    let client = Client.serve_with_lifecycle(transport, lifecycle).await?;

    let tools = client.list_all_tools().await?;
    ensure!(tools.iter().any(|tool| tool.name == "publish"), "no tool `publish`");
    let echoed = client.call_tool(call("echo", json!({ "text": "hello" }))).await?;
    let text = echoed.content.first().and_then(|content| content.as_text());
    ensure!(text.is_some_and(|text| text.text == "hello"), "{echoed:?}");

    let filter = SubscriptionFilter::builder().resource_subscription(URI).build();
    let mut subscription = client.listen(filter).await?;
    let acknowledged = subscription.acknowledged().resource_subscriptions.as_deref();
    ensure!(acknowledged.is_some_and(|uris| uris == [URI]), "{acknowledged:?}");
    print!("acknowledged");

    client.call_tool(call("publish", json!({ "uri": URI, "times": 1 }))).await?;
    match subscription.next().await? {
        Some(ServerNotification::ResourceUpdatedNotification(updated)) if updated.params.uri == URI => {}
        other => bail!("{other:?}"),
    }
    println!(", updated");

    subscription.cancel().await?;
    client.cancel().await?;
    Ok(())
}
