//! Requests in the making.

use bytes::Bytes;
use http_body_util::Full;
use serde_json::{Map, Value, json};

/// The revision that all messages speak unless they are told otherwise.
pub const REVISION: &str = "2026-07-28";
/// The key of `_meta` for the revision.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The key of `_meta` for what the client can do.
pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The key of `_meta` for the client's description of itself.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The key of `_meta` for the least severe level of log messages.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// One JSON-RPC message with the HTTP request around it: correct, until a test bends it.
#[derive(Clone, Debug)]
pub struct Message {
    verb: String,
    path: String,
    headers: Vec<(String, Vec<u8>)>,
    message: Value,
    /// Instead of `message`.
    body: Option<Vec<u8>>,
}

impl Message {
    /// A request with id 1, no parameters but the metadata, and the headers that every request has.
    #[must_use]
    pub fn request(method: &str) -> Self {
        let meta = json!({ PROTOCOL_VERSION: REVISION, CAPABILITIES: {} });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": meta } });
        let plain = Self {
            verb: "POST".to_owned(),
            path: "/mcp".to_owned(),
            headers: Vec::new(),
            message,
            body: None,
        };
        plain
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", REVISION)
            .header("mcp-method", method)
    }

    /// A notification: no id.
    #[must_use]
    pub fn notification(method: &str) -> Self {
        Self::request(method).unset("/id")
    }

    /// Calls a tool.
    #[must_use]
    pub fn call(tool: &str, arguments: Value) -> Self {
        Self::named("tools/call", tool).set("/params/arguments", arguments)
    }

    /// Gets a prompt.
    #[must_use]
    pub fn prompt(prompt: &str, arguments: Value) -> Self {
        Self::named("prompts/get", prompt).set("/params/arguments", arguments)
    }

    fn named(method: &str, name: &str) -> Self {
        Self::request(method).set("/params/name", name).header("mcp-name", name)
    }

    /// Reads a resource.
    #[must_use]
    pub fn read(uri: &str) -> Self {
        Self::request("resources/read").set("/params/uri", uri).header("mcp-name", uri)
    }

    /// Subscribes to changes.
    #[must_use]
    pub fn listen(filter: Value) -> Self {
        Self::request("subscriptions/listen").set("/params/notifications", filter)
    }

    /// Completes an argument of what `reference` names.
    #[must_use]
    pub fn complete(reference: Value, argument: &str, value: &str) -> Self {
        Self::request("completion/complete")
            .set("/params/ref", reference)
            .set("/params/argument", json!({ "name": argument, "value": value }))
    }

    /// Sets the id.
    #[must_use]
    pub fn id(self, id: impl Into<Value>) -> Self {
        self.set("/id", id)
    }

    /// Sets a key of `_meta`.
    #[must_use]
    pub fn meta(self, key: &str, value: impl Into<Value>) -> Self {
        self.set(&meta_pointer(key), value)
    }

    /// Removes a key of `_meta`.
    #[must_use]
    pub fn without_meta(self, key: &str) -> Self {
        self.unset(&meta_pointer(key))
    }

    /// Asks for progress under a token.
    #[must_use]
    pub fn progress_token(self, token: impl Into<Value>) -> Self {
        self.meta("progressToken", token)
    }

    /// Sets what a JSON pointer leads to; its parent is there already. The headers stay as they are.
    ///
    /// # Panics
    /// If the parent is not there.
    #[must_use]
    pub fn set(mut self, pointer: &str, value: impl Into<Value>) -> Self {
        let (parent, key) = self.parent(pointer);
        parent.insert(key, value.into());
        self
    }

    /// Removes what a JSON pointer leads to.
    ///
    /// # Panics
    /// If its parent is not there.
    #[must_use]
    pub fn unset(mut self, pointer: &str) -> Self {
        let (parent, key) = self.parent(pointer);
        parent.remove(&key);
        self
    }

    fn parent(&mut self, pointer: &str) -> (&mut Map<String, Value>, String) {
        let (parent, key) = pointer.rsplit_once('/').expect("a JSON pointer");
        let parent = self.message.pointer_mut(parent).and_then(Value::as_object_mut);
        let key = key.replace("~1", "/").replace("~0", "~");
        (parent.expect("the parent is an object"), key)
    }

    /// Sets a header, whatever it was before.
    #[must_use]
    pub fn header(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).also(name, value)
    }

    /// Adds a header line beside those that are there.
    #[must_use]
    pub fn also(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Removes a header.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    /// Sends these bytes as the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// Sets the HTTP method.
    #[must_use]
    pub fn verb(mut self, verb: &str) -> Self {
        verb.clone_into(&mut self.verb);
        self
    }

    /// Sets the path.
    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    /// The body's bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.body.clone().unwrap_or_else(|| self.message.to_string().into_bytes())
    }

    /// The request as HTTP/1.1 has it, with the body's length unless a header says how it is framed.
    #[must_use]
    pub fn to_wire(&self) -> Vec<u8> {
        let mut out = format!("{} {} HTTP/1.1\r\n", self.verb, self.path).into_bytes();
        for (name, value) in &self.headers {
            out.extend_from_slice(format!("{name}: ").as_bytes());
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        }
        let body = self.bytes();
        let framed = |name: &str| self.headers.iter().any(|(other, _)| other == name);
        if !framed("content-length") && !framed("transfer-encoding") {
            out.extend_from_slice(format!("content-length: {}\r\n", body.len()).as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&body);
        out
    }

    /// The request for a service.
    ///
    /// # Panics
    /// If a test has bent it into what no HTTP library would produce.
    #[must_use]
    pub fn to_request(&self) -> http::Request<Full<Bytes>> {
        let mut request = http::Request::builder()
            .method(&*self.verb)
            .uri(&*self.path)
            .body(Full::from(self.bytes()))
            .expect("a valid request line");
        for (name, value) in &self.headers {
            let name: http::HeaderName = name.parse().expect("a header name");
            let value = http::HeaderValue::from_bytes(value).expect("a header value");
            request.headers_mut().append(name, value);
        }
        request
    }
}

fn meta_pointer(key: &str) -> String {
    format!("/params/_meta/{}", key.replace('~', "~0").replace('/', "~1"))
}
