//! Catalogs that change while they are served, and that differ from caller to caller.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use mcp_runtime::{
    prelude::*,
    registry::{CatalogItem, CatalogPolicy, CatalogView, ViewRequest},
    server::Catalogs,
    subscription::{
        BoxError, EndReason, Grant, Permission, SubscriptionAuthorizer, SubscriptionCheck, allow_all,
    },
    testing::{Client, Heard, Listening},
};
use serde_json::{Value, json};
use tokio::time::timeout;

/// What each caller may not see, by the caller's name; and what the policy was asked.
#[derive(Clone, Default)]
struct Hidden(Arc<Mutex<HashSet<(String, String)>>>, Arc<AtomicUsize>);

impl Hidden {
    fn hide(&self, caller: &str, item: &str) {
        self.0.lock().expect("no poison").insert((caller.to_owned(), item.to_owned()));
    }

    fn show(&self, caller: &str, item: &str) {
        self.0.lock().expect("no poison").remove(&(caller.to_owned(), item.to_owned()));
    }
}

impl CatalogPolicy for Hidden {
    async fn view(&self, request: &ViewRequest<'_>) -> Result<CatalogView, BoxError> {
        self.1.fetch_add(1, SeqCst);
        let caller = request.caller().id().unwrap_or("nobody").to_owned();
        let hidden = self.0.lock().expect("no poison").clone();
        if hidden.contains(&(caller.clone(), "broken".to_owned())) {
            return Err("the database is gone".into());
        }
        Ok(CatalogView::only(move |item| {
            let (CatalogItem::Tool(name) | CatalogItem::Prompt(name) | CatalogItem::Resource(name)) = item
            else {
                return false;
            };
            !hidden.contains(&(caller.clone(), name.to_owned()))
        }))
    }
}

/// Admits whoever names themselves.
struct Named;

impl Admission for Named {
    async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        Ok(request
            .extension::<&'static str>()
            .map_or_else(Caller::anonymous, |name| Caller::identified(*name)))
    }
}

fn tool(name: &str) -> Tool {
    Tool::new(name).handler(|| async { "done" })
}

fn prompt(name: &str) -> Prompt {
    Prompt::new(name).argument(PromptArgument::optional("city")).handler(|| async { "say" })
}

fn endpoint() -> Endpoint {
    Endpoint::builder("/mcp")
        .changes(ChangeKind::ALL)
        .tool(tool("open"))
        .tool(tool("secret"))
        .prompt(prompt("greet"))
        .prompt(prompt("curse"))
        .resource(Resource::new("x://door", "door").handler(|| async { "a door" }))
        .resource(Resource::new("x://vault/{id}", "vault").handler(|| async { "gold" }))
        .completion(CompletionSource::prompt("curse", "city").handler(|| async { vec!["Rome"] }))
}

fn served(hidden: &Hidden) -> (McpServer, Client) {
    let builder =
        McpServer::builder().endpoint(endpoint()).admission(Named).subscription_authorizer(allow_all());
    let server = builder.catalog_policy(hidden.clone()).build().expect("a server");
    let client = Client::new(&server);
    (server, client)
}

fn names(items: &[Value], key: &str) -> Vec<String> {
    items.iter().map(|item| item[key].as_str().expect("text").to_owned()).collect()
}

/// Lets everything happen that happens without time.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

async fn silent(listening: &mut Listening) -> bool {
    timeout(Duration::from_secs(5), listening.next()).await.is_err()
}

#[tokio::test(start_paused = true)]
async fn what_is_hidden_is_answered_for_as_what_does_not_exist() {
    let hidden = Hidden::default();
    for item in ["secret", "curse", "x://vault/{id}"] {
        hidden.hide("ada", item);
    }
    let (_server, client) = served(&hidden);
    let (ada, bob) = (client.clone().extension("ada"), client.extension("bob"));
    assert_eq!(names(&ada.list_tools().await.unwrap(), "name"), ["open"]);
    assert_eq!(names(&bob.list_tools().await.unwrap(), "name"), ["open", "secret"]);
    assert_eq!(names(&ada.list_prompts().await.unwrap(), "name"), ["greet"]);
    assert_eq!(names(&ada.list_resources().await.unwrap(), "uri"), ["x://door"]);
    assert_eq!(ada.list_resource_templates().await.unwrap(), [json!({})][..0]);
    assert_eq!(bob.list_resource_templates().await.unwrap().len(), 1);

    let renamed = |error: mcp_runtime::testing::RpcError, from: &str, to: &str| {
        (
            error.code,
            error.message.replace(from, to),
            error.data.map(|data| data.to_string().replace(from, to)),
        )
    };
    let (hides, none) = (ada.call("secret").await.unwrap_err(), ada.call("secreZ").await.unwrap_err());
    assert_eq!(renamed(hides, "secret", "?"), renamed(none, "secreZ", "?"));
    let (hides, none) = (ada.prompt("curse").await.unwrap_err(), ada.prompt("cursZ").await.unwrap_err());
    assert_eq!(renamed(hides, "curse", "?"), renamed(none, "cursZ", "?"));
    let (hides, none) =
        (ada.read("x://vault/7").await.unwrap_err(), ada.read("x://vaulZ/7").await.unwrap_err());
    assert_eq!(renamed(hides, "vault", "?"), renamed(none, "vaulZ", "?"));
    let complete = |name: &str| ada.complete_prompt(name, "city", "R");
    let (hides, none) = (complete("curse").await.unwrap_err(), complete("cursZ").await.unwrap_err());
    assert_eq!(renamed(hides, "curse", "?"), renamed(none, "cursZ", "?"));

    assert_eq!(bob.call("secret").await.unwrap().text(), "done");
    assert_eq!(bob.read("x://vault/7").await.unwrap().text(), "gold");
    assert_eq!(bob.complete_prompt("curse", "city", "R").await.unwrap().values(), ["Rome"]);
    let listening = ada.listen().resource("x://vault/7").resource("x://door").await.unwrap();
    assert_eq!(*listening.acknowledged(), json!({ "resourceSubscriptions": ["x://door"] }));
}

#[tokio::test(start_paused = true)]
async fn lists_that_differ_are_private_and_not_kept_and_their_pages_have_no_gaps() {
    let hidden = Hidden::default();
    let public = CacheHint { ttl: Duration::from_secs(60), scope: CacheScope::Public };
    let many = (0..25)
        .fold(Endpoint::builder("/mcp").cache(public), |endpoint, n| endpoint.tool(tool(&format!("t{n}"))));
    for n in (0..25).filter(|n| n % 3 == 0) {
        hidden.hide("nobody", &format!("t{n}"));
    }
    let server = McpServer::builder().endpoint(many).list_page(4).catalog_policy(hidden).build().unwrap();
    let client = Client::new(&server);
    let expected: Vec<String> = (0..25).filter(|n| n % 3 != 0).map(|n| format!("t{n}")).collect();
    assert_eq!(names(&client.list_tools().await.unwrap(), "name"), expected);
    let first = client.request("tools/list", json!({})).await.unwrap().into_result();
    assert_eq!(
        (first["tools"].as_array().unwrap().len(), &first["ttlMs"], &first["cacheScope"]),
        (4, &json!(0), &json!("private"))
    );
    let error = client.request("tools/list", json!({ "cursor": "bm9uc2Vuc2U" })).await.unwrap_err();
    assert_eq!(error.code, -32602);
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_told_of_a_list_only_when_its_callers_view_has_changed() {
    let hidden = Hidden::default();
    hidden.hide("ada", "secret");
    let (server, client) = served(&hidden);
    let mut ada = client.clone().extension("ada").listen().tools().prompts().await.unwrap();
    let mut bob = client.extension("bob").listen().tools().await.unwrap();
    settle().await;

    server.catalogs().invalidate();
    server.publisher().tools_changed().unwrap();
    assert!(silent(&mut ada).await && silent(&mut bob).await, "nobody's view has changed");

    hidden.show("ada", "secret");
    server.catalogs().invalidate();
    assert_eq!(ada.next().await, Some(Heard::Tools));
    assert!(silent(&mut ada).await && silent(&mut bob).await);

    // Back and forth before the hint is read: the client knows it already.
    hidden.hide("ada", "secret");
    server.catalogs().invalidate();
    settle().await;
    hidden.show("ada", "secret");
    server.catalogs().invalidate();
    settle().await;
    assert!(silent(&mut ada).await);

    // Back and forth with the hint read in between: two hints.
    hidden.hide("ada", "secret");
    server.publisher().tools_changed().unwrap();
    assert_eq!(ada.next().await, Some(Heard::Tools));
    hidden.show("ada", "secret");
    server.publisher().tools_changed().unwrap();
    assert_eq!(ada.next().await, Some(Heard::Tools));

    hidden.hide("ada", "broken");
    server.catalogs().invalidate();
    assert_eq!(ada.next().await, None, "it can't be found out what ada sees");
    assert_eq!(ada.end_reason(), Some(EndReason::CheckFailed));
    assert!(silent(&mut bob).await);
}

#[tokio::test(start_paused = true)]
async fn a_view_that_changes_while_a_stream_is_opened_is_told_or_fetched() {
    let hidden = Hidden::default();
    let (server, client) = served(&hidden);
    // The stream is acknowledged only when it is read; what changes until then is there to be fetched.
    let opening = tokio::spawn({
        let client = client.clone().extension("ada");
        async move { client.listen().tools().await.unwrap() }
    });
    hidden.hide("ada", "secret");
    server.catalogs().invalidate();
    let mut ada = opening.await.unwrap();
    settle().await;
    let fetched = client.clone().extension("ada").list_tools().await.unwrap();
    assert_eq!(names(&fetched, "name"), ["open"]);
    while timeout(Duration::from_secs(1), ada.next()).await.is_ok() {}
    hidden.show("ada", "secret");
    server.catalogs().invalidate();
    assert_eq!(ada.next().await, Some(Heard::Tools), "the client fetched what was hidden");
}

/// Allows everything for a minute, with a context that can be replaced.
#[derive(Clone, Default)]
struct Contexts(Arc<Mutex<Arc<()>>>);

impl SubscriptionAuthorizer for Contexts {
    async fn authorize(&self, _: &SubscriptionCheck<'_>) -> Result<Permission, BoxError> {
        let context = Arc::clone(&self.0.lock().expect("no poison"));
        Ok(Grant::lasting(Duration::from_secs(40)).context(context).into())
    }
}

#[tokio::test(start_paused = true)]
async fn another_context_makes_the_view_be_looked_at_again_and_the_same_does_not() {
    let (hidden, contexts) = (Hidden::default(), Contexts::default());
    let builder = McpServer::builder().endpoint(endpoint()).subscription_authorizer(contexts.clone());
    let server = builder.catalog_policy(hidden.clone()).build().unwrap();
    let client = Client::new(&server);
    let mut listening = client.listen().tools().await.unwrap();
    let looks = || hidden.1.load(SeqCst);
    let opened = looks();
    hidden.hide("nobody", "secret");
    assert!(timeout(Duration::from_secs(60), listening.next()).await.is_err());
    assert_eq!(looks(), opened, "it was renewed, and nothing was said to have changed");
    *contexts.0.lock().expect("no poison") = Arc::default();
    assert_eq!(timeout(Duration::from_secs(60), listening.next()).await, Ok(Some(Heard::Tools)));
    hidden.show("nobody", "secret");
    server.subscriptions().reconcile();
    assert_eq!(timeout(Duration::from_secs(1), listening.next()).await, Ok(Some(Heard::Tools)));
}

#[tokio::test(start_paused = true)]
async fn tools_prompts_and_resources_come_and_go_and_streams_are_told() {
    let other = Endpoint::builder("/other").changes([ChangeKind::Tools]).tool(tool("same"));
    let builder = McpServer::builder().endpoint(endpoint()).endpoint(other);
    let server = builder.subscription_authorizer(allow_all()).build().unwrap();
    let (client, elsewhere) = (Client::at(&server, "/mcp"), Client::at(&server, "/other"));
    let mut listening = client.listen().tools().prompts().resources().resource("x://vault/7").await.unwrap();
    let mut other = elsewhere.listen().tools().await.unwrap();
    let catalogs: Catalogs = server.catalogs();

    catalogs.edit("/mcp", |catalog| catalog.add_tool(tool("late"))).unwrap();
    assert_eq!(listening.next().await, Some(Heard::Tools));
    assert_eq!(names(&client.list_tools().await.unwrap(), "name"), ["open", "secret", "late"]);
    assert_eq!(client.call("late").await.unwrap().text(), "done");

    catalogs
        .edit("/mcp", |catalog| {
            assert!(catalog.remove_tool("open") && !catalog.remove_tool("open"));
            assert!(catalog.remove_prompt("greet"));
            catalog.add_prompt(prompt("bless"));
            assert!(catalog.remove_resource("x://door") && !catalog.remove_resource("x://door"));
            catalog.add_resource(Resource::new("x://gate", "gate").handler(|| async { "a gate" }));
        })
        .unwrap();
    let heard = [listening.next().await, listening.next().await, listening.next().await];
    assert_eq!(heard, [Some(Heard::Tools), Some(Heard::Prompts), Some(Heard::Resources)]);
    assert_eq!(client.call("open").await.unwrap_err().code, -32602);
    assert_eq!(client.read("x://gate").await.unwrap().text(), "a gate");
    assert_eq!(client.read("x://door").await.unwrap_err().code, -32602);
    assert_eq!(names(&client.list_prompts().await.unwrap(), "name"), ["curse", "bless"]);

    catalogs.edit("/mcp", |catalog| assert!(!catalog.remove_tool("nothing"))).unwrap();
    assert!(
        silent(&mut listening).await && silent(&mut other).await,
        "nothing has changed, and nothing elsewhere"
    );
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_whose_lists_change_may_be_empty_to_begin_with() {
    let empty = Endpoint::builder("/mcp").changes([ChangeKind::Tools]);
    let server = McpServer::builder().endpoint(empty).subscription_authorizer(allow_all()).build().unwrap();
    let client = Client::new(&server);
    assert_eq!(client.list_tools().await.unwrap(), [json!({})][..0]);
    let mut listening = client.listen().tools().await.unwrap();
    server.catalogs().edit("/mcp", |catalog| catalog.add_tool(tool("first"))).unwrap();
    assert_eq!(listening.next().await, Some(Heard::Tools));
    assert_eq!(client.call("first").await.unwrap().text(), "done");
    server.catalogs().edit("/mcp", |catalog| assert!(catalog.remove_tool("first"))).unwrap();
    assert_eq!(client.list_tools().await.unwrap(), [json!({})][..0]);
}

#[tokio::test(start_paused = true)]
async fn a_faulty_edit_changes_nothing_and_says_why() {
    let server =
        McpServer::builder().endpoint(endpoint()).subscription_authorizer(allow_all()).build().unwrap();
    let client = Client::new(&server);
    let mut listening = client.listen().tools().await.unwrap();
    let error = server
        .catalogs()
        .edit("/mcp", |catalog| {
            catalog.remove_tool("open");
            catalog.add_tool(tool("secret"));
            catalog.add_tool(tool("no name"));
        })
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("secret") && error.contains("no name") && error.contains("catalogs.rs"),
        "{error}"
    );
    assert_eq!(names(&client.list_tools().await.unwrap(), "name"), ["open", "secret"]);
    assert!(silent(&mut listening).await);
    let error = server.catalogs().edit("/elsewhere", |_| ()).unwrap_err().to_string();
    assert!(error.contains("`/elsewhere`") && error.contains("/mcp"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_finishes_although_its_tool_is_removed() {
    let slow = Tool::new("slow").handler(|| async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        "late"
    });
    let server = McpServer::builder()
        .endpoint(Endpoint::builder("/mcp").tool(slow).tool(tool("other")))
        .build()
        .unwrap();
    let client = Client::new(&server);
    let running = client.call("slow").start();
    settle().await;
    server.catalogs().edit("/mcp", |catalog| assert!(catalog.remove_tool("slow"))).unwrap();
    assert_eq!(client.call("slow").await.unwrap_err().code, -32602);
    assert_eq!(running.finish().await.unwrap().text(), "late");
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_fails_fails_the_request() {
    let hidden = Hidden::default();
    hidden.hide("nobody", "broken");
    let (_server, client) = served(&hidden);
    let error = client.call("open").await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (-32603, "internal error"));
    assert_eq!(client.listen().tools().await.unwrap_err().code, -32603);
}
