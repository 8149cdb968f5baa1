//! Listens to the server at the URL given, answers what it asks, and speaks its older revision, with `rmcp`.

use anyhow::{Context, bail, ensure};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResult, ClientConfig, ElicitRequestParams, ElicitResult,
        ElicitationAction, ElicitationCapability, ProtocolVersion, ServerNotification, SubscriptionFilter,
    },
    service::RequestContext,
    transport::StreamableHttpClientTransport,
};
use serde_json::{Value, json};

const URI: &str = "bench://item/7";

struct Client;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.capabilities.elicitation = Some(ElicitationCapability::default());
        info
    }

    /// Answers each of the two questions of a call.
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let known = |field: &str| if field == "name" { "Ada" } else { "green" };
        let fields = requested_schema.properties.keys();
        let content: Value = fields.map(|field| (field.clone(), Value::from(known(field)))).collect();
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }
}

fn call(name: &'static str, arguments: Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    CallToolRequestParams::new(name).with_arguments(arguments)
}

fn says(result: &CallToolResult, expected: &str) -> anyhow::Result<()> {
    let text = result.content.first().and_then(|content| content.as_text());
    ensure!(text.is_some_and(|text| text.text == expected), "{result:?}");
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let url = std::env::args().nth(1).context("no URL")?;
    modern(url.clone()).await?;
    legacy(url).await
}

async fn modern(url: String) -> anyhow::Result<()> {
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let transport = StreamableHttpClientTransport::from_uri(url);
    let client = Client.serve_with_lifecycle(transport, lifecycle).await?;

    let tools = client.list_all_tools().await?;
    ensure!(tools.iter().any(|tool| tool.name == "publish"), "no tool `publish`");
    says(&client.call_tool(call("echo", json!({ "text": "hello" }))).await?, "hello")?;

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
    print!(", updated");

    let asked = client.call_tool(call("test_input_required_result_multi_round", json!({}))).await?;
    says(&asked, "Ada likes green.")?;
    print!(", answered");

    subscription.cancel().await?;
    client.cancel().await?;
    Ok(())
}

/// Its default: a handshake that proposes 2026-07-28, which only the older revisions have.
async fn legacy(url: String) -> anyhow::Result<()> {
    let client = Client.serve(StreamableHttpClientTransport::from_uri(url)).await?;
    let server = client.peer_info().context("no answer to the handshake")?;
    ensure!(server.protocol_version == ProtocolVersion::V_2025_11_25, "{server:?}");
    let tools = client.list_all_tools().await?;
    ensure!(tools.iter().any(|tool| tool.name == "echo"), "no tool `echo`");
    says(&client.call_tool(call("echo", json!({ "text": "hello" }))).await?, "hello")?;
    println!(", legacy");
    client.cancel().await?;
    Ok(())
}
