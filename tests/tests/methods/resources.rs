//! `resources/read`: exact URIs, templates, and every kind of contents.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::{Local, Message, seconds};
use serde_json::json;

use super::{plain, result};

#[mcp_endpoint(path = "/mcp", name = "resources", version = "1.0.0", ttl = "1m", scope = "public")]
struct Library;

#[mcp_endpoint]
impl Library {
    #[mcp_resource(uri = "lib://text")]
    async fn text() -> &'static str {
        "some text"
    }

    #[mcp_resource(uri = "lib://typed", mime_type = "text/markdown", ttl = "30s", scope = "public")]
    async fn typed() -> Text {
        Text::new("# Title")
    }

    #[mcp_resource(uri = "lib://blob", mime_type = "image/png")]
    async fn blob() -> Blob {
        Blob::new(vec![0_u8, 255])
    }

    #[mcp_resource(uri = "lib://json")]
    async fn json() -> Json<Vec<u8>> {
        Json(vec![1, 2])
    }

    #[mcp_resource(uri = "lib://directory")]
    async fn directory() -> Vec<ResourceContents> {
        vec![
            ResourceContents::text("lib://directory/a", "A"),
            ResourceContents::blob("lib://directory/b", [1]),
        ]
    }

    #[mcp_resource(uri = "lib://empty")]
    async fn empty() -> Vec<ResourceContents> {
        Vec::new()
    }

    #[mcp_resource(uri = "lib://fresh", ttl = "30s")]
    async fn fresh() -> ReadResult {
        let hint = CacheHint { ttl: seconds(5), scope: CacheScope::Private };
        ReadResult::new(ResourceContents::text("lib://fresh", "now")).with_cache(hint)
    }

    #[mcp_resource(uri = "lib://books/special")]
    async fn special() -> &'static str {
        "the exact one"
    }

    #[mcp_resource(uri = "lib://books/{title}")]
    async fn book(title: String) -> Option<String> {
        (title != "lost").then_some(title)
    }

    #[mcp_resource(uri = "lib://shelves/{shelf}/{position}")]
    async fn place(#[mcp(rename = "position")] at: u8, shelf: String) -> String {
        format!("{shelf}:{at}")
    }
}

fn library() -> Local {
    Local::new(McpServer::builder().endpoint(Library))
}

async fn read(uri: &str) -> serde_json::Value {
    plain(result(&library(), Message::read(uri)).await)
}

#[tokio::test]
async fn contents_have_their_uri_and_a_type() {
    for (uri, contents) in [
        ("lib://text", json!({ "uri": "lib://text", "mimeType": "text/plain", "text": "some text" })),
        ("lib://typed", json!({ "uri": "lib://typed", "mimeType": "text/markdown", "text": "# Title" })),
        ("lib://blob", json!({ "uri": "lib://blob", "mimeType": "image/png", "blob": "AP8=" })),
        ("lib://json", json!({ "uri": "lib://json", "mimeType": "application/json", "text": "[1,2]" })),
    ] {
        assert_eq!(read(uri).await["contents"], json!([contents]));
    }
}

#[tokio::test]
async fn one_read_may_have_several_contents() {
    let contents = json!([
        { "uri": "lib://directory/a", "text": "A" },
        { "uri": "lib://directory/b", "blob": "AQ==" },
    ]);
    assert_eq!(read("lib://directory").await["contents"], contents);
}

#[tokio::test]
async fn no_contents_at_all_are_a_broken_promise() {
    let reply = library().send(&Message::read("lib://empty")).await;
    assert_eq!(reply.error()["code"], -32603);
    assert_eq!(reply.error()["message"], "internal error");
}

#[tokio::test]
async fn a_read_carries_the_hints_of_its_resource_or_its_result() {
    for (uri, ttl, scope) in
        [("lib://text", 0, "private"), ("lib://typed", 30_000, "public"), ("lib://fresh", 5_000, "private")]
    {
        let read = read(uri).await;
        assert_eq!((&read["ttlMs"], &read["cacheScope"]), (&json!(ttl), &json!(scope)), "{uri}");
    }
}

#[tokio::test]
async fn an_exact_uri_comes_before_a_template() {
    assert_eq!(read("lib://books/special").await["contents"][0]["text"], "the exact one");
    assert_eq!(read("lib://books/other").await["contents"][0]["text"], "other");
}

#[tokio::test]
async fn variables_are_decoded_once_and_the_uri_stays_as_it_was_sent() {
    for (uri, text) in [
        ("lib://books/Moby%20Dick", "Moby Dick"),
        ("lib://books/a%2Fb", "a/b"),
        ("lib://books/%25%32%30", "%20"),
        ("lib://books/caf%C3%A9", "café"),
        ("lib://books/a+b", "a+b"),
    ] {
        let contents = read(uri).await["contents"][0].take();
        assert_eq!((&contents["text"], &contents["uri"]), (&json!(text), &json!(uri)));
    }
}

#[tokio::test]
async fn what_no_template_matches_does_not_exist() {
    for uri in [
        "lib://books/",
        "lib://books",
        "lib://books/a/b",
        "lib://books/a?b",
        "lib://books/a#b",
        "lib://books/%zz",
        "lib://books/%ff",
        "LIB://text",
        "lib://text/",
        "lib://shelves/only",
        "",
    ] {
        let reply = library().send(&Message::read(uri)).await;
        assert_eq!(reply.refusal(), (200, -32602), "{uri}");
        assert_eq!(reply.error()["data"], json!({ "uri": uri }));
    }
}

#[tokio::test]
async fn a_variable_becomes_its_parameter_whatever_their_order() {
    assert_eq!(read("lib://shelves/top/7").await["contents"][0]["text"], "top:7");
}

#[tokio::test]
async fn a_variable_that_does_not_fit_is_a_resource_that_does_not_exist() {
    let reply = library().send(&Message::read("lib://shelves/top/first")).await;
    assert_eq!(reply.refusal(), (200, -32602));
    assert_eq!(reply.error()["data"]["uri"], "lib://shelves/top/first");
    assert_eq!(reply.faults(), ["position"]);
}

#[tokio::test]
async fn a_handler_that_finds_nothing_is_answered_like_an_unknown_uri() {
    let library = library();
    let error = async |uri| {
        let mut error = library.send(&Message::read(uri)).await.error();
        assert_eq!(error["data"]["uri"].take(), uri);
        error
    };
    assert_eq!(error("lib://books/lost").await, error("lib://nothing").await);
}
