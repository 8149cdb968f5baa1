//! What a handler can know of its request beside its arguments.

use std::sync::Arc;

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{CAPABILITIES, CLIENT_INFO, Local, Message, endpoint, seconds};
use serde_json::{Value, json};

use super::serving;

/// The text that a handler made of its request.
async fn text(local: &Local, message: Message) -> String {
    local.send(&message).await.text()
}

fn tell(tell: impl Fn(&RequestContext) -> String + Send + Sync + 'static) -> Local {
    let tell = Arc::new(tell);
    let tool = Tool::new("tell").handler(move |context: RequestContext| {
        let tell = Arc::clone(&tell);
        async move { tell(&context) }
    });
    serving(endpoint().tool(tool))
}

fn ask() -> Message {
    Message::call("tell", json!({}))
}

#[tokio::test]
async fn the_request_is_known_by_its_id_its_revision_and_its_endpoint() {
    let local = tell(|context| {
        let endpoint = context.endpoint();
        format!(
            "{} {} {} {} {}",
            context.request_id(),
            context.revision(),
            endpoint.path,
            endpoint.name,
            endpoint.version
        )
    });
    let told = text(&local, ask().id("seven")).await;
    assert_eq!(told, r#""seven" 2026-07-28 /mcp tests 1.2.3"#);
}

#[tokio::test]
async fn the_client_is_known_by_what_it_says_of_itself() {
    let local = tell(|context| {
        let info = context.client_info();
        let can = context.client_capabilities();
        format!(
            "{:?} {} {} {}",
            info.map(|info| (&*info.name, &*info.version)),
            can.sampling(),
            can.elicitation_form(),
            can.roots()
        )
    });
    assert_eq!(text(&local, ask()).await, "None false false false");
    let known = ask()
        .meta(CLIENT_INFO, json!({ "name": "inspector", "version": "2" }))
        .meta(CAPABILITIES, json!({ "sampling": {}, "elicitation": {} }));
    assert_eq!(text(&local, known).await, r#"Some(("inspector", "2")) true true false"#);
}

#[tokio::test]
async fn headers_metadata_and_trace_context_are_at_hand() {
    let local = tell(|context| {
        let tenant = context.headers().get("x-tenant").and_then(|tenant| tenant.to_str().ok());
        let trace = context.trace_context();
        format!(
            "{tenant:?} {:?} {:?} {:?}",
            context.meta().get("example.com/key"),
            trace.traceparent,
            trace.baggage
        )
    });
    let message = ask()
        .header("x-tenant", "acme")
        .meta("example.com/key", json!([1, "\n"]))
        .meta("traceparent", "00-ab-cd-01");
    let told = text(&local, message).await;
    let expected = format!(r#"Some("acme") Some({:?}) Some("00-ab-cd-01") None"#, json!([1, "\n"]));
    assert_eq!(told, expected);
}

/// Knows callers by their key.
struct Keys;

#[derive(Clone)]
struct Scopes(Vec<&'static str>);

impl Admission for Keys {
    async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        let seen = format!("{} {:?}", request.method(), request.target());
        match request.headers().get("authorization") {
            Some(_) => Ok(Caller::identified("ada").with(Scopes(vec!["read"])).with(seen)),
            None => Ok(Caller::anonymous().with(seen)),
        }
    }
}

#[tokio::test]
async fn the_caller_is_who_admission_says() {
    let tool = Tool::new("tell").handler(async |context: RequestContext| {
        let caller = context.caller();
        let scopes = caller.get::<Scopes>().map(|scopes| scopes.0.clone());
        let seen = caller.get::<String>().cloned().unwrap_or_default();
        format!("{:?} {} {scopes:?} {seen}", caller.id(), caller.is_anonymous())
    });
    let local = Local::guarded(McpServer::builder().endpoint(endpoint().tool(tool)).admission(Keys));
    let known = text(&local, ask().header("authorization", "key")).await;
    assert_eq!(known, r#"Some("ada") false Some(["read"]) tools/call Some("tell")"#);
    assert_eq!(text(&local, ask()).await, r#"None true None tools/call Some("tell")"#);
}

#[tokio::test]
async fn without_an_admission_everybody_is_anonymous() {
    let local = tell(|context| context.caller().is_anonymous().to_string());
    assert_eq!(text(&local, ask()).await, "true");
}

#[tokio::test(start_paused = true)]
async fn a_handler_knows_its_deadline() {
    let local = tell(|context| {
        let left = context.deadline().map(|deadline| deadline - tokio::time::Instant::now());
        format!("{left:?}")
    });
    assert_eq!(text(&local, ask()).await, format!("{:?}", Some(seconds(60))));
}

#[tokio::test]
async fn several_states_are_told_apart_by_their_types() {
    let tool =
        Tool::new("tell").handler(async |State(name): State<&'static str>, State(count): State<Arc<u8>>| {
            format!("{name} {count}")
        });
    let builder = McpServer::builder().endpoint(endpoint().tool(tool)).state("shelf").state(Arc::new(7_u8));
    assert_eq!(text(&Local::new(builder), ask()).await, "shelf 7");
}

#[tokio::test]
async fn extensions_of_the_http_request_reach_the_handler() {
    let tool = Tool::new("tell")
        .handler(async |user: Option<Extension<&'static str>>| user.map_or("nobody", |Extension(user)| user));
    let needed = Tool::new("need").handler(async |Extension(user): Extension<&'static str>| user);
    let local = serving(endpoint().tool(tool).tool(needed));
    let with_user = |message: Message| {
        let mut request = message.to_request();
        request.extensions_mut().insert("ada");
        local.open_request(request)
    };
    for tool in ["tell", "need"] {
        let reply = with_user(Message::call(tool, json!({}))).await.whole().await;
        assert_eq!(reply.text(), "ada");
    }
    assert_eq!(text(&local, ask()).await, "nobody");
    let reply = local.send(&Message::call("need", json!({}))).await;
    assert_eq!(
        (reply.error()["code"].take(), reply.error()["message"].take()),
        (json!(-32603), json!("internal error"))
    );
}

/// A value of the application's own, which not every request has.
#[derive(Debug)]
struct Tenant(String);

impl FromInvocation for Tenant {
    type Rejection = Rejection;

    async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
        tokio::task::yield_now().await;
        let context = invocation.context();
        match context.headers().get("x-tenant").and_then(|tenant| tenant.to_str().ok()) {
            Some("closed") => Err(Rejection::application(4711, "the account is closed")),
            Some("broken") => Err(Rejection::internal("the password is hunter2")),
            Some(tenant) => Ok(Self(tenant.to_owned())),
            None => Err(Rejection::invalid("name a tenant in `X-Tenant`")),
        }
    }
}

#[tokio::test]
async fn a_type_of_the_applications_own_is_injected_or_rejects_the_request() {
    let tool = Tool::new("tell").handler(async |Tenant(tenant): Tenant| tenant);
    let local = serving(endpoint().tool(tool));
    assert_eq!(text(&local, ask().header("x-tenant", "acme")).await, "acme");
    for (message, code, says) in [
        (ask(), -32602, "name a tenant in `X-Tenant`"),
        (ask().header("x-tenant", "closed"), 4711, "the account is closed"),
        (ask().header("x-tenant", "broken"), -32603, "internal error"),
    ] {
        let reply = local.send(&message).await;
        assert_eq!(reply.refusal(), (200, code), "{reply:?}");
        assert_eq!(reply.error()["message"], says);
    }
}

#[tokio::test]
async fn an_instance_serves_its_methods() {
    #[mcp_endpoint(path = "/mcp", name = "shop", version = "1.0.0")]
    struct Shop {
        stock: Vec<&'static str>,
    }

    #[mcp_endpoint]
    impl Shop {
        #[mcp_tool]
        async fn count(&self) -> String {
            self.stock.len().to_string()
        }

        #[mcp_resource(uri = "shop://{at}")]
        fn item(&self, at: usize) -> Option<String> {
            self.stock.get(at).map(|item| (*item).to_owned())
        }
    }

    let local = Local::new(McpServer::builder().endpoint(Shop { stock: vec!["nut", "bolt"] }));
    assert_eq!(text(&local, Message::call("count", json!({}))).await, "2");
    assert_eq!(text(&local, Message::read("shop://1")).await, "bolt");
    assert_eq!(local.send(&Message::read("shop://2")).await.error()["code"], -32602);
}

#[tokio::test]
async fn any_operation_may_require_capabilities() {
    let sampling = Capabilities { sampling: true, ..Capabilities::default() };
    let local = serving(
        endpoint()
            .resource(Resource::new("x://a", "a").requires(sampling).handler(async || "text"))
            .prompt(Prompt::new("p").requires(sampling).handler(async || "text")),
    );
    for message in [Message::read("x://a"), Message::prompt("p", json!({}))] {
        let reply = local.send(&message).await;
        assert_eq!(reply.refusal(), (400, -32021));
        assert_eq!(reply.error()["data"]["requiredCapabilities"], json!({ "sampling": {} }));
        let able = message.meta(CAPABILITIES, json!({ "sampling": {} }));
        assert_eq!(local.send(&able).await.status, 200);
    }
}

#[tokio::test]
async fn a_form_and_a_url_are_two_capabilities() {
    let serving =
        |requires| serving(endpoint().tool(Tool::new("tell").requires(requires).handler(async || "asked")));
    let forms = serving(Capabilities { elicitation: true, ..Capabilities::NONE });
    let urls = serving(Capabilities { elicitation_url: true, ..Capabilities::NONE });
    for (declared, form, url) in [
        (json!({}), true, false),
        (json!({ "form": {} }), true, false),
        (json!({ "url": {} }), false, true),
        (json!({ "form": {}, "url": {} }), true, true),
        (Value::Null, false, false),
        (json!(true), false, false),
    ] {
        let message = ask().meta(CAPABILITIES, json!({ "elicitation": declared }));
        for (local, fits) in [(&forms, form), (&urls, url)] {
            let reply = local.send(&message).await;
            assert_eq!(reply.status == 200, fits, "{declared}: {reply:?}");
        }
    }
}
