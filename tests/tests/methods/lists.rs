//! Lists: their order, their pages, and what each item says.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Local, Message, endpoint};
use serde_json::{Value, json};

use super::{plain, result, serving};

/// All pages of a list, by the names of their items.
async fn pages(local: &Local, method: &str, member: &str) -> Vec<Vec<String>> {
    let (mut pages, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut message = Message::request(method);
        if let Some(cursor) = &cursor {
            message = message.set("/params/cursor", &**cursor);
        }
        let page = result(local, message).await;
        let items = page[member].as_array().expect("a list").iter();
        pages.push(items.map(|item| item["name"].as_str().expect("a name").to_owned()).collect());
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return pages;
        }
    }
}

/// Five of everything.
fn five() -> Local {
    let names = ["e", "d", "c", "b", "a"];
    let endpoint = names.iter().fold(endpoint(), |endpoint, name| {
        endpoint
            .tool(Tool::new(*name).handler(async || "x"))
            .prompt(Prompt::new(*name).handler(async || "x"))
            .resource(Resource::new(format!("x://{name}"), *name).handler(async || "x"))
            .resource(Resource::new(format!("x://{name}/{{id}}"), *name).handler(async || "x"))
    });
    Local::new(McpServer::builder().endpoint(endpoint).list_page(2))
}

const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
];

#[tokio::test]
async fn pages_have_every_item_once_in_the_order_of_registration() {
    let local = five();
    for (method, member) in LISTS {
        let pages = pages(&local, method, member).await;
        assert_eq!(pages, [&["e", "d"][..], &["c", "b"], &["a"]], "{method}");
    }
}

#[tokio::test]
async fn a_cursor_belongs_to_its_list_and_stays_good() {
    let local = five();
    let first = result(&local, Message::request("tools/list")).await;
    let cursor = first["nextCursor"].clone();
    let second = Message::request("tools/list").set("/params/cursor", cursor.clone());
    assert_eq!(result(&local, second.clone()).await, result(&local, second).await);
    for (method, _) in &LISTS[1..] {
        let foreign = Message::request(method).set("/params/cursor", cursor.clone());
        assert_eq!(local.send(&foreign).await.refusal(), (200, -32602), "{method}");
    }
}

#[tokio::test]
async fn a_list_of_one_page_has_no_cursor() {
    let local = serving(endpoint().tool(Tool::new("only").handler(async || "x")));
    let page = result(&local, Message::request("tools/list")).await;
    assert_eq!(page.get("nextCursor"), None);
}

#[tokio::test]
async fn a_server_of_resources_has_all_of_their_lists_even_if_one_is_empty() {
    let local = serving(endpoint().resource(Resource::new("x://one", "one").handler(async || "x")));
    let templates = result(&local, Message::request("resources/templates/list")).await;
    assert_eq!(templates["resourceTemplates"], json!([]));
}

#[mcp_endpoint(path = "/mcp", name = "described", version = "1.0.0")]
struct Described;

#[mcp_endpoint]
impl Described {
    /// Finds things.
    ///
    /// As many as there are.
    #[mcp_tool(
        name = "things.find",
        title = "Find things",
        read_only,
        destructive = false,
        idempotent,
        open_world = false,
        icons("https://example.com/find.png")
    )]
    async fn find(
        /// What to look for.
        what: String,
        #[mcp(rename = "max", default = 10)] _at_most: u8,
        exact: Option<bool>,
        #[mcp(header = "Region")] region: Option<String>,
    ) -> Json<Vec<String>> {
        let _ = (exact, region);
        Json(vec![what])
    }

    #[mcp_tool]
    async fn nothing() {}

    /// All of it.
    #[mcp_resource(uri = "x://all", name = "all-of-it", title = "All", mime_type = "text/plain", size = 3)]
    async fn all() -> &'static str {
        "all"
    }

    /// One part.
    #[mcp_resource(uri = "x://parts/{id}", mime_type = "application/json")]
    async fn part(id: String) -> String {
        id
    }

    /// Introduces somebody.
    #[mcp_prompt(title = "Introduce")]
    async fn introduce(
        /// Who it is.
        name: String,
        style: Option<String>,
    ) -> String {
        format!("{name} {style:?}")
    }
}

async fn described(method: &str, member: &str) -> Value {
    let local = Local::new(McpServer::builder().endpoint(Described));
    result(&local, Message::request(method)).await[member].take()
}

#[tokio::test]
async fn a_tool_is_listed_with_what_its_function_says() {
    let tools = described("tools/list", "tools").await;
    assert_eq!(
        tools,
        json!([
            {
                "name": "things.find",
                "title": "Find things",
                "description": "Finds things.\n\nAs many as there are.",
                "icons": [{ "src": "https://example.com/find.png" }],
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "what": { "type": "string", "description": "What to look for." },
                        "max": { "type": "integer", "minimum": 0, "maximum": 255, "default": 10 },
                        "exact": { "type": "boolean" },
                        "region": { "type": "string", "x-mcp-header": "Region" },
                    },
                    "required": ["what"],
                    "additionalProperties": false,
                },
                "outputSchema": { "type": "array", "items": { "type": "string" } },
                "annotations": {
                    "readOnlyHint": true,
                    "destructiveHint": false,
                    "idempotentHint": true,
                    "openWorldHint": false,
                },
            },
            { "name": "nothing", "inputSchema": { "type": "object", "additionalProperties": false } },
        ])
    );
}

#[tokio::test]
async fn resources_and_templates_are_listed_apart() {
    let resources = described("resources/list", "resources").await;
    assert_eq!(
        resources,
        json!([{
            "name": "all-of-it",
            "title": "All",
            "description": "All of it.",
            "uri": "x://all",
            "mimeType": "text/plain",
            "size": 3,
        }])
    );
    let templates = described("resources/templates/list", "resourceTemplates").await;
    assert_eq!(
        templates,
        json!([{
            "name": "part",
            "description": "One part.",
            "uriTemplate": "x://parts/{id}",
            "mimeType": "application/json",
        }])
    );
}

#[tokio::test]
async fn a_prompt_is_listed_with_its_arguments() {
    let prompts = described("prompts/list", "prompts").await;
    assert_eq!(
        prompts,
        json!([{
            "name": "introduce",
            "title": "Introduce",
            "description": "Introduces somebody.",
            "arguments": [
                { "name": "name", "description": "Who it is.", "required": true },
                { "name": "style", "required": false },
            ],
        }])
    );
}

/// A list of its own, in pages of two.
async fn numbered(cursor: Option<String>) -> Result<ResourcePage, ResourceError> {
    let start: usize =
        cursor.as_deref().unwrap_or("0").parse().map_err(|_| ResourceError::invalid("no such page"))?;
    let entries =
        (start..start + 2).map(|n| ResourceEntry::new(format!("x://{n}"), n.to_string()).size(n as u64));
    let page = ResourcePage::new(entries);
    Ok(if start < 4 { page.next_cursor((start + 2).to_string()) } else { page })
}

#[mcp_endpoint(path = "/mcp", name = "own", version = "1.0.0")]
struct OwnList;

#[mcp_resource_list(endpoint = OwnList, ttl = "2m", scope = "public")]
async fn list(cursor: Option<String>) -> Result<ResourcePage, ResourceError> {
    numbered(cursor).await
}

#[mcp_resource(endpoint = OwnList, uri = "x://{id}")]
async fn item(id: String) -> String {
    id
}

#[tokio::test]
async fn an_application_pages_through_a_list_of_its_own() {
    let local = Local::new(McpServer::builder().endpoint(OwnList));
    let pages = pages(&local, "resources/list", "resources").await;
    assert_eq!(pages, [["0", "1"], ["2", "3"], ["4", "5"]]);
    let page = plain(result(&local, Message::request("resources/list").set("/params/cursor", "4")).await);
    let resources =
        json!([{ "uri": "x://4", "name": "4", "size": 4 }, { "uri": "x://5", "name": "5", "size": 5 }]);
    assert_eq!(page, json!({ "resources": resources, "ttlMs": 120_000, "cacheScope": "public" }));
    let bad = Message::request("resources/list").set("/params/cursor", "five");
    let reply = local.send(&bad).await;
    assert_eq!((reply.refusal(), &reply.error()["message"]), ((200, -32602), &json!("no such page")));
}
