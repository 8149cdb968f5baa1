//! A concierge that books tables: it asks its guest in the middle of a call, and remembers what it found.
//!
//! `cargo run --example concierge` serves it at <http://127.0.0.1:8081/mcp>;
//! `cargo run --example concierge -- --demo` serves it at a free port, and shows its questions here. Where there is no
//! terminal, the demo answers them itself.

use std::{
    error::Error,
    io::{IsTerminal, Write, stdin, stdout},
    net::Ipv4Addr,
    time::Duration,
};

use mcp_examples::Client;
use mcp_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::{net::TcpListener, time::sleep};

// What a person is asked. Their client shows it as a form, with the doc comments as its labels.
#[derive(Deserialize, JsonSchema, ElicitationForm)]
struct Wishes {
    /// Under which name?
    #[schemars(length(min = 1, max = 60))]
    name: String,
    /// At what time?
    time: Time,
    /// Anything the kitchen should know?
    note: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Time {
    Six,
    Eight,
    Ten,
}

#[derive(Serialize, JsonSchema)]
struct Booking {
    restaurant: String,
    table: u32,
    name: String,
    time: Time,
    note: Option<String>,
}

/// Books a table for some guests.
#[mcp_tool(asks(elicitation))]
async fn book(
    /// How many they are.
    guests: u32,
    ask: Ask,
    progress: Option<ProgressReporter>,
) -> Result<Json<Booking>, ToolError> {
    // A call in which something is asked runs again from here when the answer is there. So the search keeps what it
    // found, sealed, in the hands of the client: it happens once.
    let table: Table = match ask.kept() {
        Some(table) => table,
        None => search(guests, &progress).await?,
    };
    ask.keep(&table)?;

    // The first time this is where the call ends, with the question as its answer. The second time it has the answer.
    let wishes = ask.elicit("wishes", format!("{table} is free.")).await;
    let wishes: Wishes = wishes.accepted().ok_or("the guest has other plans")?;
    let question = format!("{table}, for {guests} at {:?}, under the name {}?", wishes.time, wishes.name);
    ask.confirm("consent", question).await.accepted().ok_or("the guest changed their mind")?;

    // Whatever is changed is changed behind the last question. A client might still send its last request twice: with the
    // number of the table, which was kept, the restaurant knows that it is the same booking.
    let Table { restaurant, number } = table;
    let Wishes { name, time, note } = wishes;
    Ok(Json(Booking { restaurant, table: number, name, time, note }))
}

/// A table that is free.
#[derive(Serialize, Deserialize)]
struct Table {
    restaurant: String,
    number: u32,
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Table {} of {}", self.number, self.restaurant)
    }
}

/// Calls one restaurant after the other.
async fn search(guests: u32, progress: &Option<ProgressReporter>) -> Result<Table, ToolError> {
    const RESTAURANTS: [(&str, u32); 4] =
        [("the Anchor", 2), ("the Olive Tree", 3), ("Chez Louise", 6), ("the Old Mill", 12)];
    for (called, (restaurant, seats)) in RESTAURANTS.into_iter().enumerate() {
        let call =
            Progress::new(called + 1).total(RESTAURANTS.len()).message(format!("calling {restaurant}"));
        progress.report(call).await?;
        sleep(Duration::from_millis(300)).await;
        if seats >= guests {
            return Ok(Table { restaurant: restaurant.to_owned(), number: seats + 1 });
        }
    }
    Err(ToolError::new(format!("nobody has a table for {guests}")))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = McpServer::from_annotations().build()?;
    if std::env::args().any(|argument| argument == "--demo") {
        return demo(server).await;
    }
    tracing_subscriber::fmt().init();
    server.serve("127.0.0.1:8081").await?;
    Ok(())
}

/// Serves at a free port, and is the client that shows the questions.
async fn demo(server: McpServer) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let client = Client { address: listener.local_addr()?, path: "/mcp" };
    let handle = server.handle();
    let serving = tokio::spawn(server.serve_with(listener));

    println!("A table for five, please.\n");
    let mut params = json!({ "name": "book", "arguments": { "guests": 5 } });
    let result = loop {
        let mut messages = client.request("tools/call", params.clone()).await?;
        let mut result = Value::Null;
        while let Some(message) = messages.next().await? {
            match message.get("result") {
                Some(found) => result = found.clone(),
                None if message.get("error").is_some() => return Err(message["error"].to_string().into()),
                None => println!("  … {}", message["params"]["message"].as_str().unwrap_or_default()),
            }
        }
        if result["resultType"] != "input_required" {
            break result;
        }
        // The same request once more, with the answers, and the state as it came.
        let asked = result["inputRequests"].as_object().cloned().unwrap_or_default();
        let answers = asked.iter().map(|(key, request)| Ok((key.clone(), answer(&request["params"])?)));
        params["inputResponses"] = Value::Object(answers.collect::<std::io::Result<_>>()?);
        params["requestState"] = result["requestState"].take();
    };
    println!("\nThe tool's result:\n{}", result["content"][0]["text"].as_str().unwrap_or_default());

    handle.shutdown().await;
    Ok(serving.await??)
}

/// Shows a form, and reads what is typed into it.
fn answer(form: &Value) -> std::io::Result<Value> {
    println!("\n{}", form["message"].as_str().unwrap_or_default());
    let fields = form["requestedSchema"]["properties"].as_object().cloned().unwrap_or_default();
    if fields.is_empty() {
        print!("  yes or no? ");
        let yes = matches!(type_in("yes")?.as_str(), "y" | "yes");
        return Ok(json!({ "action": if yes { "accept" } else { "decline" } }));
    }
    let mut content = Map::new();
    for (name, field) in fields {
        let label = field["description"].as_str().unwrap_or(&name);
        let choices = field["enum"].as_array().map(|choices| Value::from(choices.clone()).to_string());
        print!("  {label} {}", choices.unwrap_or_default());
        let text = type_in(&name)?;
        let value = match field["type"].as_str() {
            _ if text.is_empty() => continue,
            Some("boolean") => matches!(text.as_str(), "y" | "yes" | "true").into(),
            Some("integer" | "number") => text.parse::<f64>().map_or(Value::Null, Value::from),
            _ => text.into(),
        };
        content.insert(name, value);
    }
    Ok(json!({ "action": "accept", "content": content }))
}

/// What the person types, or what the demo would.
fn type_in(field: &str) -> std::io::Result<String> {
    stdout().flush()?;
    if stdin().is_terminal() {
        let mut line = String::new();
        stdin().read_line(&mut line)?;
        return Ok(line.trim().to_owned());
    }
    let text = match field {
        "name" => "Ada",
        "time" => "eight",
        "yes" => "yes",
        _ => "",
    };
    println!("{text}");
    Ok(text.to_owned())
}
