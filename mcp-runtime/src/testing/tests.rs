//! The client, against a server of every kind of operation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Count {
    to: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Counted {
    to: u32,
}

#[derive(Clone)]
struct User(&'static str);

async fn count(
    Args(Count { to }): Args<Count>,
    progress: Option<ProgressReporter>,
    logger: Logger,
) -> Result<Json<Counted>, ToolError> {
    if to > 100 {
        return Err("too far".into());
    }
    for done in 1..=to {
        progress.report(Progress::new(done).total(to).message(format!("at {done}"))).await?;
    }
    logger.debug("quiet").await;
    logger.named("counter").warning(json!({ "to": to })).await;
    Ok(Json(Counted { to }))
}

async fn whoami(context: RequestContext, Extension(User(user)): Extension<User>) -> Json<Value> {
    let client = context.client_info().map(|info| info.name.clone());
    let extra = context.meta().get("example/extra").cloned();
    let capabilities = context.client_capabilities().raw().clone();
    Json(json!({ "user": user, "client": client, "extra": extra, "capabilities": capabilities }))
}

#[derive(Deserialize, JsonSchema)]
struct Part {
    id: String,
}

#[derive(Deserialize, JsonSchema)]
struct Typed {
    value: String,
    #[serde(default)]
    shelf: String,
}

fn endpoint(path: &str) -> Endpoint {
    let part = Resource::new("stock://parts/{id}", "part")
        .handler(async |Args(Part { id }): Args<Part>| (id != "0").then(|| Text(format!("part {id}"))));
    let greet = Prompt::new("greet").argument(PromptArgument::required("id")).handler(
        async |Args(Part { id }): Args<Part>| {
            let messages = [PromptMessage::user(format!("hello {id}")), PromptMessage::assistant("hello")];
            PromptResult::new(messages).with_description("a greeting")
        },
    );
    let ids = async |Args(Typed { value, shelf }): Args<Typed>| vec![value, shelf];
    Endpoint::builder(path)
        .name("stock")
        .tool(Tool::new("count").handler(count))
        .tool(Tool::new("whoami").handler(whoami))
        .resource(Resource::new("stock://about", "about").handler(async || "spare parts"))
        .resource(part)
        .prompt(greet)
        .completion(CompletionSource::resource("stock://parts/{id}", "id").handler(ids))
        .completion(CompletionSource::prompt("greet", "id").handler(async || vec!["1", "2"]))
}

fn client() -> Client {
    Client::new(&McpServer::builder().endpoint(endpoint("/mcp")).build().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_called_with_arguments_and_answers_in_every_form() {
    let response = client().call("count").arg("to", 3).await.unwrap();
    assert_eq!(response.structured::<Counted>(), Counted { to: 3 });
    assert_eq!(response.text(), r#"{"to":3}"#);
    assert_eq!(response.content().len(), 1);
    assert!(!response.is_error());
    assert_eq!(response.result()["resultType"], "complete");
    assert_eq!((response.progress(), response.logs()), (&[][..], &[][..]), "neither was asked for");
}

#[tokio::test(start_paused = true)]
async fn a_tools_failure_is_a_response_and_a_protocol_error_is_an_error() {
    let client = client();
    let response = client.call("count").args(json!({ "to": "ten" })).await.unwrap();
    assert!(response.is_error());
    assert!(response.text().contains("- to: "), "{}", response.text());
    assert_eq!(client.call("count").arg("to", 101).await.unwrap().text(), "too far");
    let error = client.call("nothing").await.unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str(), error.data.as_ref()),
        (-32602, "unknown tool `nothing`", None)
    );
    assert_eq!(error.to_string(), "unknown tool `nothing` (-32602)");
    let error = client.read("stock://parts/0").await.unwrap_err();
    assert_eq!(error.to_string(), r#"resource not found (-32602): {"uri":"stock://parts/0"}"#);
}

#[tokio::test(start_paused = true)]
async fn progress_and_logs_are_collected_in_their_order() {
    let response =
        client().call("count").arg("to", 40).with_progress().log_level(LogLevel::Info).await.unwrap();
    let done: Vec<f64> = response.progress().iter().map(|update| update.progress).collect();
    assert_eq!(done, (1..=40).map(f64::from).collect::<Vec<_>>());
    let last = response.progress().last().unwrap();
    assert_eq!((last.total, last.message.as_deref()), (Some(40.0), Some("at 40")));
    let [log] = response.logs() else { panic!("{:?}", response.logs()) };
    assert_eq!((log.level, log.logger.as_deref()), (LogLevel::Warning, Some("counter")));
    assert_eq!(log.data, json!({ "to": 40 }));
}

#[tokio::test(start_paused = true)]
async fn calls_run_side_by_side() {
    let client = client();
    let calls: Vec<_> = (0..10).map(|to| client.call("count").arg("to", to).start()).collect();
    for (to, running) in (0..10).zip(calls) {
        assert_eq!(running.finish().await.unwrap().structured::<Counted>().to, to);
    }
}

#[tokio::test(start_paused = true)]
async fn resources_prompts_and_completions() {
    let client = client();
    let part = client.read("stock://parts/7").await.unwrap();
    assert_eq!((part.text().as_str(), part.contents().len()), ("part 7", 1));
    assert_eq!(part.contents()[0].uri, "stock://parts/7");
    let greeting = client.prompt("greet").arg("id", "7").await.unwrap();
    assert_eq!((greeting.text().as_str(), greeting.description()), ("hello 7\nhello", Some("a greeting")));
    assert_eq!(greeting.messages()[0].role, Role::User);
    let ids = client.complete_resource("stock://parts/{id}", "id", "4").chosen("shelf", "B").await.unwrap();
    assert_eq!(ids.values(), ["4", "B"]);
    let ids = client.complete_prompt("greet", "id", "").await.unwrap();
    assert_eq!((ids.values().len(), ids.has_more()), (2, false));
    assert_eq!(client.prompt("greet").await.unwrap_err().code, -32602, "an argument is missing");
}

#[tokio::test(start_paused = true)]
async fn lists_are_read_to_their_end() {
    let endpoint = (0..5).fold(endpoint("/mcp"), |endpoint, n| {
        endpoint.tool(Tool::new(format!("tool{n}")).handler(async || "")).prompt(
            Prompt::new(format!("prompt{n}")).handler(async || PromptResult::new([PromptMessage::user("")])),
        )
    });
    let client = Client::new(&McpServer::builder().endpoint(endpoint).list_page(2_usize).build().unwrap());
    let tools = client.list_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["count", "whoami", "tool0", "tool1", "tool2", "tool3", "tool4"]);
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["to"]));
    assert_eq!(client.list_prompts().await.unwrap().len(), 6);
    assert_eq!(client.list_resources().await.unwrap()[0]["uri"], "stock://about");
    assert_eq!(client.list_resource_templates().await.unwrap()[0]["uriTemplate"], "stock://parts/{id}");
    let empty = Endpoint::builder("/mcp").tool(Tool::new("only").handler(async || ""));
    let client = Client::new(&McpServer::builder().endpoint(empty).build().unwrap());
    assert_eq!(client.list_prompts().await.unwrap_err().code, -32601);
}

#[tokio::test(start_paused = true)]
async fn the_server_is_discovered_and_asked_anything() {
    let client = client();
    let discovered = client.discover().await.unwrap();
    assert_eq!(discovered.result()["supportedVersions"][0], "2026-07-28");
    let page = client.request("tools/list", json!({})).await.unwrap().into_result();
    assert_eq!(page["tools"][0]["name"], "count");
    assert_eq!(client.request("tools/grind", json!({})).await.unwrap_err().code, -32601);
    let own_meta = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2030-01-01" } });
    assert_eq!(client.request("tools/list", own_meta).await.unwrap_err().code, -32022);
}

#[tokio::test(start_paused = true)]
async fn any_bytes_can_be_sent() {
    let client = client();
    assert_eq!(
        client.raw(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await,
        [json!(null); 0]
    );
    let answers = client.raw("[").await;
    assert_eq!((answers.len(), &answers[0]["error"]["code"]), (1, &json!(-32700)));
    let call = json!({
        "jsonrpc": "2.0", "id": "x", "method": "tools/call",
        "params": { "name": "count", "arguments": { "to": 2 }, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "progressToken": "p",
        } },
    });
    let answers = client.raw(call.to_string()).await;
    let methods: Vec<&Value> = answers.iter().map(|answer| &answer["method"]).collect();
    assert_eq!(methods, [&json!("notifications/progress"), &json!("notifications/progress"), &json!(null)]);
    assert_eq!(answers[2]["id"], "x");
}

#[tokio::test(start_paused = true)]
async fn a_calls_settings_come_before_the_clients() {
    let client = client()
        .extension(User("ada"))
        .client_info("robot", "1")
        .meta("example/extra", 1)
        .capabilities(json!({ "roots": {} }));
    let said = |response: ToolResponse| response.structured::<Value>();
    let expected = json!({ "user": "ada", "client": "robot", "extra": 1, "capabilities": { "roots": {} } });
    assert_eq!(said(client.call("whoami").await.unwrap()), expected);
    let call = client
        .call("whoami")
        .extension(User("bob"))
        .client_info("person", "2")
        .meta("example/extra", json!([2]));
    let expected = json!({ "user": "bob", "client": "person", "extra": [2], "capabilities": {} });
    assert_eq!(said(call.capabilities(json!({})).await.unwrap()), expected);
}

#[tokio::test(start_paused = true)]
async fn callers_go_through_the_servers_admission() {
    struct Users;
    impl Admission for Users {
        async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
            match request.extension::<User>() {
                Some(User(name)) => Ok(Caller::identified(*name)),
                None => Err(Denied::unauthorized("Bearer")),
            }
        }
    }
    let client =
        Client::new(&McpServer::builder().endpoint(endpoint("/mcp")).admission(Users).build().unwrap());
    assert_eq!(client.list_tools().await.unwrap_err().code, -32600);
    assert_eq!(client.clone().extension(User("ada")).list_tools().await.unwrap().len(), 2);
    assert_eq!(client.list_tools().await.unwrap_err().code, -32600, "a clone has settings of its own");
}

#[tokio::test(start_paused = true)]
async fn each_endpoint_has_its_client() {
    let other = Endpoint::builder("/other").tool(Tool::new("other").handler(async || "other"));
    let server = McpServer::builder().endpoint(endpoint("/mcp")).endpoint(other).build().unwrap();
    assert_eq!(Client::at(&server, "/other").call("other").await.unwrap().text(), "other");
    assert_eq!(Client::at(&server, "/mcp").list_tools().await.unwrap().len(), 2);
}

#[test]
#[should_panic(expected = "`Client::at`")]
fn one_of_several_endpoints_must_be_named() {
    let _ =
        Client::new(&McpServer::builder().endpoint(endpoint("/a")).endpoint(endpoint("/b")).build().unwrap());
}

#[test]
#[should_panic(expected = "no endpoint at `/nothing`")]
fn an_endpoint_must_exist() {
    let _ = Client::at(&McpServer::builder().endpoint(endpoint("/mcp")).build().unwrap(), "/nothing");
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "the arguments must be an object, not [1]")]
async fn arguments_are_an_object() {
    let _ = client().call("count").args([1]);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "the result has no structured content")]
async fn structured_content_must_be_there() {
    let _: Counted = client().call("count").arg("to", 101).await.unwrap().structured();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_has_ended_refuses() {
    let server = McpServer::builder().endpoint(endpoint("/mcp")).build().unwrap();
    let client = Client::new(&server);
    server.handle().shutdown().await;
    assert_eq!(client.call("count").arg("to", 1).await.unwrap_err().code, -32603);
}
