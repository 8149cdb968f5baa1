//! A catalog of spare parts: a slow search with progress and cancellation, resources, a prompt, completions.
//!
//! `cargo run --example catalog` serves it at <http://127.0.0.1:8081/catalog/mcp>;
//! `cargo run --example catalog -- --demo` serves it at a free port, and calls it.

use std::{
    error::Error,
    io::{Write, stdout},
    net::Ipv4Addr,
    sync::Arc,
    time::{Duration, Instant},
};

use mcp_examples::Client;
use mcp_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::sleep};

/// Spare parts, searchable.
#[mcp_endpoint(path = "/catalog/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[derive(Serialize, JsonSchema)]
struct Matches {
    parts: Vec<Part>,
}

// The types of the parameters say what they are. What a client sends can be deserialised and has a schema, where the
// doc comments from here stand. All else is injected: `State`, for one, is what `main` gave to the server.
/// Searches the catalog, shelf by shelf.
#[mcp_tool(endpoint = Catalog, read_only)]
async fn search(
    /// Text to look for.
    query: String,
    /// How many matches at most.
    #[mcp(default = 10)]
    limit: usize,
    progress: Option<ProgressReporter>,
    cancellation: CancellationToken,
    State(stock): State<Stock>,
) -> Result<Json<Matches>, ToolError> {
    let mut parts = Vec::new();
    for (done, shelf) in stock.shelves().enumerate() {
        // If the client went away, this ends here.
        cancellation.check()?;
        parts.extend(shelf.matching(&query).await);
        // If the client did not ask for progress, there is no reporter, and nothing happens.
        let looked =
            Progress::new(done + 1).total(stock.len()).message(format!("looked at the {}s", shelf.kind));
        progress.report(looked).await?;
        if parts.len() >= limit {
            parts.truncate(limit);
            break;
        }
    }
    Ok(Json(Matches { parts }))
}

/// What is on which shelf.
#[mcp_resource(endpoint = Catalog, uri = "catalog://shelves", mime_type = "text/markdown", ttl = "1m")]
async fn shelves(State(stock): State<Stock>) -> Text {
    let lines = stock.shelves().map(|shelf| format!("- {} kinds of {}\n", shelf.parts.len(), shelf.kind));
    Text(lines.collect())
}

/// One part.
#[mcp_resource(endpoint = Catalog, uri = "catalog://parts/{id}", mime_type = "application/json")]
async fn part(id: String, State(stock): State<Stock>) -> Result<Json<Part>, ResourceError> {
    stock.part(&id).cloned().map(Json).ok_or_else(ResourceError::not_found)
}

/// Completes the number of a part, in its URI.
#[mcp_completion(endpoint = Catalog, resource = "catalog://parts/{id}", argument = "id")]
async fn part_id(value: String, State(stock): State<Stock>) -> Vec<String> {
    stock.ids_from(&value)
}

/// Asks which of two parts to buy.
#[mcp_prompt(endpoint = Catalog)]
async fn compare(
    /// The number of one part.
    first: String,
    /// The number of the other.
    second: String,
    State(stock): State<Stock>,
) -> Result<String, PromptError> {
    let name = |id: &str| match stock.part(id) {
        Some(part) => Ok(&part.name),
        None => Err(PromptError::invalid(format!("there is no part {id}"))),
    };
    Ok(format!("Compare {} with {}. Which one should I buy?", name(&first)?, name(&second)?))
}

/// Completes the number of one part.
#[mcp_completion(endpoint = Catalog, prompt = "compare", argument = "first")]
async fn first(value: String, State(stock): State<Stock>) -> Vec<String> {
    stock.ids_from(&value)
}

/// Completes the number of the other part: anything but the first, if that is known.
#[mcp_completion(endpoint = Catalog, prompt = "compare", argument = "second")]
async fn second(value: String, first: Option<String>, State(stock): State<Stock>) -> Vec<String> {
    let mut ids = stock.ids_from(&value);
    ids.retain(|id| Some(id) != first.as_ref());
    ids
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = McpServer::from_annotations().state(Stock::open()).build()?;
    if std::env::args().any(|argument| argument == "--demo") {
        return demo(server).await;
    }
    tracing_subscriber::fmt().init();
    server.serve("127.0.0.1:8081").await?;
    Ok(())
}

/// Everything in the house. Each handler gets a clone.
#[derive(Clone)]
struct Stock(Arc<[Shelf]>);

struct Shelf {
    kind: &'static str,
    parts: Vec<Part>,
}

#[derive(Clone, Serialize, JsonSchema)]
struct Part {
    id: String,
    name: String,
    in_stock: u32,
}

impl Stock {
    fn open() -> Self {
        const KINDS: [&str; 20] = [
            "bearing", "belt", "bolt", "bushing", "chain", "clamp", "clip", "gasket", "gear", "hinge",
            "hose", "nut", "pin", "pulley", "rivet", "screw", "shaft", "spring", "valve", "washer",
        ];
        let part = |kind, size: u32| Part {
            id: format!("{kind}-{size}"),
            name: format!("{size} mm {kind}"),
            in_stock: size * 7 % 50,
        };
        let shelf = |kind| Shelf { kind, parts: (2..=12).map(|size| part(kind, size)).collect() };
        Self(KINDS.map(shelf).into())
    }

    fn shelves(&self) -> impl Iterator<Item = &Shelf> {
        self.0.iter()
    }

    /// How many shelves there are.
    fn len(&self) -> usize {
        self.0.len()
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.shelves().flat_map(|shelf| &shelf.parts)
    }

    fn part(&self, id: &str) -> Option<&Part> {
        self.parts().find(|part| part.id == id)
    }

    fn ids_from(&self, start: &str) -> Vec<String> {
        self.parts().filter(|part| part.id.starts_with(start)).map(|part| part.id.clone()).collect()
    }
}

impl Shelf {
    /// The parts whose name contains the text. It is a long way to the shelf.
    async fn matching(&self, text: &str) -> Vec<Part> {
        sleep(Duration::from_millis(100)).await;
        self.parts.iter().filter(|part| part.name.contains(text)).cloned().collect()
    }
}

/// Serves at a free port, and calls the server from outside.
async fn demo(server: McpServer) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let client = Client { address: listener.local_addr()?, path: "/catalog/mcp" };
    let handle = server.handle();
    let serving = tokio::spawn(server.serve_with(listener));

    println!("The server is at http://{}{}. A search, with its progress:\n", client.address, client.path);
    let search = json!({ "name": "search", "arguments": { "query": "12 mm b" } });
    let mut messages = client.request("tools/call", search.clone()).await?;
    let mut result = Value::Null;
    while let Some(message) = messages.next().await? {
        match message.get("result") {
            Some(found) => result = found["structuredContent"].clone(),
            None => draw(&message["params"])?,
        }
    }
    println!("\n\n{result}\n");

    println!("A resource:\n");
    let read = json!({ "uri": "catalog://parts/bolt-12" });
    let result = client.request("resources/read", read).await?.result().await?;
    println!("{}\n", result["contents"]);

    println!("The same search once more, which the client gives up:\n");
    let mut messages = client.request("tools/call", search).await?;
    for _ in 0..8 {
        if let Some(message) = messages.next().await? {
            draw(&message["params"])?;
        }
    }
    drop(messages);
    let gave_up = Instant::now();
    while handle.running() > 0 {
        sleep(Duration::from_millis(1)).await;
    }
    println!("\n\nIt ended {:.0?} later, before the next shelf. Nothing of it is left.", gave_up.elapsed());

    handle.shutdown().await;
    Ok(serving.await??)
}

/// Draws a bar over the one before.
fn draw(progress: &Value) -> std::io::Result<()> {
    const WIDTH: f64 = 40.0;
    let (Some(done), Some(total)) = (progress["progress"].as_f64(), progress["total"].as_f64()) else {
        return Ok(());
    };
    let filled = "█".repeat((WIDTH * done / total) as usize);
    let message = progress["message"].as_str().unwrap_or_default();
    let mut stdout = stdout();
    write!(stdout, "\r\x1b[K{filled:░<40} {done}/{total} {message}")?;
    stdout.flush()
}
