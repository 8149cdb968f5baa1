//! The files of a folder, as resources that change by themselves: clients subscribe, are told, and fetch again.
//!
//! `cargo run --example live -- FOLDER` serves a folder at <http://127.0.0.1:8081/live/mcp>;
//! `cargo run --example live -- --demo` serves one of its own at a free port, listens to it, and writes.

use std::{
    error::Error,
    fs, io,
    io::Write,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use mcp_examples::{Client, Messages};
use mcp_runtime::{
    prelude::*,
    subscription::{
        BoxError, Change, Grant, InMemoryPublisher, Permission, PublishError, ResourceUri, ResourceWatcher,
        SubscriptionAuthorizer, SubscriptionCheck,
    },
};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher, event::ModifyKind};
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::sleep};

/// The files of a folder, while they change.
#[mcp_endpoint(path = "/live/mcp", name = "live", version = "1.0.0", changes(resources, updates))]
struct Live {
    folder: Folder,
}

// Not `async`, since reading a file blocks.
#[mcp_endpoint]
impl Live {
    /// The text of a file.
    #[mcp_resource(uri = "live://files/{name}", mime_type = "text/plain")]
    fn file(&self, name: String) -> Result<Text, ResourceError> {
        let path = self.folder.0.join(&name);
        if !is_plain(&name) || !fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
            return Err(ResourceError::not_found());
        }
        Ok(Text(fs::read_to_string(path)?))
    }

    #[mcp_resource_list]
    fn files(&self) -> Result<Vec<ResourceEntry>, ResourceError> {
        let mut names = self.folder.names()?;
        names.sort();
        Ok(names.into_iter().map(|name| ResourceEntry::new(uri(&name), name)).collect())
    }
}

/// Watches the folder for as long as somebody listens, and publishes what changes there.
#[derive(Clone)]
struct Watch {
    folder: Folder,
    publisher: InMemoryPublisher,
    /// The one watch, which all who need it hold. It ends when the last of them drops it.
    held: Arc<Mutex<Weak<RecommendedWatcher>>>,
}

impl Watch {
    fn new(folder: Folder, publisher: InMemoryPublisher) -> Self {
        Self { folder, publisher, held: Arc::default() }
    }

    /// Holds the watch; the first one starts it.
    fn hold(&self) -> notify::Result<Arc<RecommendedWatcher>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watcher) = held.upgrade() {
            return Ok(watcher);
        }
        let publisher = self.publisher.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if let Err(error) = publish(&publisher, event) {
                eprintln!("a change was not published: {error}");
            }
        })?;
        watcher.watch(&self.folder.0, RecursiveMode::NonRecursive)?;
        let watcher = Arc::new(watcher);
        *held = Arc::downgrade(&watcher);
        Ok(watcher)
    }

    fn is_held(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).strong_count() > 0
    }
}

// All there is to do about a change is to say that it happened. Who listens, who may know, and who still reads the hint
// before: that is the framework's.
fn publish(publisher: &InMemoryPublisher, event: notify::Result<Event>) -> Result<(), PublishError> {
    let event = match event {
        Ok(event) if !event.need_rescan() => event,
        // Events were lost, and nobody knows which.
        _ => return publisher.publish(&Change::Everything),
    };
    match event.kind {
        EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)) => {
            publisher.resources_changed()?;
        }
        EventKind::Modify(_) => {}
        _ => return Ok(()),
    }
    for name in event.paths.iter().filter_map(|path| path.file_name()?.to_str()) {
        if is_plain(name) {
            publisher.resource_updated(&uri(name))?;
        }
    }
    Ok(())
}

/// A file is watched from before the first subscription to it is acknowledged until the last one has ended.
impl ResourceWatcher for Watch {
    type Watch = Arc<RecommendedWatcher>;

    async fn watch(&self, uri: &ResourceUri) -> Result<Self::Watch, BoxError> {
        match uri.as_str().strip_prefix(FILES) {
            Some(name) if is_plain(name) => Ok(self.hold()?),
            _ => Err("no file of this name is served".into()),
        }
    }
}

/// Whoever may call may also listen. The list of files is no resource with a URI, so who listens to that holds the
/// watch by the permission, which lives as long as the subscription.
impl SubscriptionAuthorizer for Watch {
    async fn authorize(&self, check: &SubscriptionCheck<'_>) -> Result<Permission, BoxError> {
        let grant = Grant::lasting(Duration::MAX);
        Ok(if check.selection().resources() { grant.context(self.hold()?) } else { grant }.into())
    }
}

fn server(watch: &Watch) -> Result<McpServer, BuildError> {
    McpServer::builder()
        .endpoint(Live { folder: watch.folder.clone() })
        .publisher(watch.publisher.clone())
        .subscription_authorizer(watch.clone())
        .watch_resources(watch.clone())
        .build()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some(argument) = std::env::args().nth(1) else {
        return Err("usage: live FOLDER | --demo".into());
    };
    if argument == "--demo" {
        return demo().await;
    }
    tracing_subscriber::fmt().init();
    let folder = Folder(fs::canonicalize(argument)?.into());
    server(&Watch::new(folder, InMemoryPublisher::new()))?.serve("127.0.0.1:8081").await?;
    Ok(())
}

#[derive(Clone)]
struct Folder(Arc<Path>);

impl Folder {
    /// The names of its files, as far as they are served.
    fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string()
                && is_plain(&name)
                && entry.file_type()?.is_file()
            {
                names.push(name);
            }
        }
        Ok(names)
    }
}

/// Whether a name stays within the folder, is not hidden, and can stand in a URI as it is.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.is_empty() && !name.starts_with('.') && name.bytes().all(plain)
}

const FILES: &str = "live://files/";

fn uri(name: &str) -> String {
    format!("{FILES}{name}")
}

/// Serves a folder, listens to it from outside, and writes.
async fn demo() -> Result<(), Box<dyn Error>> {
    let temporary = Temporary::new()?;
    let append = |name: &str, text: &str| {
        let file = fs::OpenOptions::new().create(true).append(true).open(temporary.0.join(name));
        file.and_then(|mut file| file.write_all(text.as_bytes()))
    };
    append("diary.txt", "Monday. ")?;

    let folder = Folder(temporary.0.as_path().into());
    let watch = Watch::new(folder, InMemoryPublisher::new());
    let server = server(&watch)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let client = Client { address: listener.local_addr()?, path: "/live/mcp" };
    let handle = server.handle();
    let serving = tokio::spawn(server.serve_with(listener));
    println!("The server is at http://{}{}.", client.address, client.path);
    watch.tell();

    println!(
        "\nAda subscribes to a file, and Bob to the list. Each waits for the acknowledgement, and fetches."
    );
    let diary = uri("diary.txt");
    let mut ada = Subscriber::open("Ada", client, json!({ "resourceSubscriptions": [diary] })).await?;
    ada.read(&diary).await?;
    let mut bob = Subscriber::open("Bob", client, json!({ "resourcesListChanged": true })).await?;
    bob.list().await?;
    watch.tell();

    println!("\nTuesday is written into diary.txt.");
    append("diary.txt", "Tuesday. ")?;
    ada.hint().await?;
    ada.read(&diary).await?;

    println!("\nA file is made.");
    append("letter.txt", "Dear Ada, ")?;
    bob.hint().await?;
    bob.list().await?;

    println!("\nA thousand days pass at once. A hint says that something changed, and not how often.");
    for day in 3..=1000 {
        append("diary.txt", &format!("Day {day}. "))?;
    }
    let mut hints = 0;
    loop {
        ada.messages.next().await?.ok_or("Ada's stream ended")?;
        hints += 1;
        let result = ada.fetch("resources/read", json!({ "uri": diary })).await?;
        if result["contents"][0]["text"].as_str().is_some_and(|text| text.ends_with("Day 1000. ")) {
            break;
        }
    }
    println!("  Ada has read up to day 1000. Hints until then: {hints}.");

    println!("\nAda leaves, and the server ends: each stream that is left gets its result first.");
    drop(ada);
    let shutdown = tokio::spawn(async move { handle.shutdown().await });
    while bob.hint().await?.is_some() {}
    shutdown.await?;
    serving.await??;
    while watch.is_held() {
        sleep(Duration::from_millis(1)).await;
    }
    watch.tell();
    Ok(())
}

impl Watch {
    fn tell(&self) {
        let (who, not) = if self.is_held() { ("Somebody", "") } else { ("Nobody", "not ") };
        println!("\n{who} listens: the folder is {not}watched.");
    }
}

/// A client with a subscription.
struct Subscriber {
    name: &'static str,
    client: Client,
    messages: Messages,
}

impl Subscriber {
    /// Subscribes, and waits for the acknowledgement: what changes from now on will be told.
    async fn open(name: &'static str, client: Client, filter: Value) -> io::Result<Self> {
        let messages = client.request("subscriptions/listen", json!({ "notifications": filter })).await?;
        let mut subscriber = Self { name, client, messages };
        subscriber.hint().await?;
        Ok(subscriber)
    }

    /// Waits for the next message, and shows it.
    async fn hint(&mut self) -> io::Result<Option<Value>> {
        let message = self.messages.next().await?;
        match &message {
            None => println!("  {} < the end of the stream", self.name),
            Some(message) => match message.get("result") {
                Some(result) => println!("  {} < result {result}", self.name),
                None => {
                    let method = message["method"].as_str().unwrap_or_default();
                    println!("  {} < {method} {}", self.name, message["params"]);
                }
            },
        }
        Ok(message)
    }

    async fn fetch(&self, method: &str, params: Value) -> io::Result<Value> {
        self.client.request(method, params).await?.result().await
    }

    async fn read(&self, uri: &str) -> io::Result<()> {
        let result = self.fetch("resources/read", json!({ "uri": uri })).await?;
        println!("  {} fetches the file: {}", self.name, result["contents"][0]["text"]);
        Ok(())
    }

    async fn list(&self) -> io::Result<()> {
        let result = self.fetch("resources/list", json!({})).await?;
        let names = result["resources"].as_array().into_iter().flatten().map(|entry| &entry["name"]);
        println!("  {} fetches the list: {}", self.name, Value::from_iter(names.cloned()));
        Ok(())
    }
}

/// A folder that is removed when it is dropped.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("live-{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
