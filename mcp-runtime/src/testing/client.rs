//! The client itself.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering::Relaxed},
};

use http::Extensions;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    call::{Call, profile_setters},
    error::RpcError,
    handshake::Handshake,
    listening::Listen,
    response::{CompletionResponse, PromptResponse, ReadResponse, Response, ToolResponse},
    running::parse,
};
use crate::{
    engine::Live,
    protocol::{Revision, keys},
    server::McpServer,
};

/// A client of one endpoint, in the process; see the [module](super) for how it is used.
///
/// Its settings hold for every request that it makes afterwards; a [`Call`] has the same setters for itself. Clones
/// share the endpoint and the count of ids.
///
/// Methods that make a request need a tokio runtime.
#[derive(Clone)]
pub struct Client {
    endpoint: Live,
    ids: Ids,
    profile: Profile,
}

/// Counts the ids of a client's requests.
#[derive(Clone, Default)]
pub(super) struct Ids(Arc<AtomicI64>);

impl Ids {
    pub(super) fn next(&self) -> Value {
        (self.0.fetch_add(1, Relaxed) + 1).into()
    }
}

/// What goes with each request.
#[derive(Clone)]
pub(super) struct Profile {
    pub(super) meta: Map<String, Value>,
    pub(super) extensions: Extensions,
    pub(super) handshake: Handshake,
}

impl Profile {
    /// Sets a value of `_meta`. Who says something else of itself begins anew.
    pub(super) fn set(&mut self, key: &str, value: Value) {
        if matches!(key, keys::CLIENT_INFO | keys::CLIENT_CAPABILITIES) {
            self.handshake = self.handshake.anew();
        }
        self.meta.insert(key.to_owned(), value);
    }
}

impl Client {
    /// A client of the only endpoint of a server. It declares no capabilities.
    ///
    /// # Panics
    /// If the server has several endpoints: see [`at`](Self::at).
    #[track_caller]
    #[must_use]
    pub fn new(server: &McpServer) -> Self {
        match &*server.endpoints {
            [endpoint] => Self::over(endpoint.clone()),
            _ => panic!("the server has several endpoints ({server:?}): name one with `Client::at`"),
        }
    }

    /// A client of the endpoint at a path.
    ///
    /// # Panics
    /// If the server has no such endpoint.
    #[track_caller]
    #[must_use]
    pub fn at(server: &McpServer, path: &str) -> Self {
        match server.endpoints.iter().find(|endpoint| endpoint.path() == path) {
            Some(endpoint) => Self::over(endpoint.clone()),
            None => panic!("the server has no endpoint at `{path}`: {server:?}"),
        }
    }

    fn over(endpoint: Live) -> Self {
        let meta = [
            (keys::PROTOCOL_VERSION.to_owned(), Revision::LATEST.as_str().into()),
            (keys::CLIENT_CAPABILITIES.to_owned(), json!({})),
        ];
        let (extensions, handshake) = (Extensions::new(), Handshake::default());
        let profile = Profile { meta: Map::from_iter(meta), extensions, handshake };
        Self { endpoint, ids: Ids::default(), profile }
            .client_info("mcp-runtime-testing", env!("CARGO_PKG_VERSION"))
    }

    profile_setters!(#[must_use]);

    /// Speaks a revision.
    ///
    /// In one before 2026-07-28 the client sends `initialize` before its first request, and what it says of itself
    /// there, instead of with each request. If the server refuses that, its error is the answer to the request; if it
    /// answers with another revision, the request panics. Asking for log messages has no effect.
    #[must_use]
    pub fn revision(mut self, revision: Revision) -> Self {
        self.profile.handshake = Handshake::new(revision);
        self.meta(keys::PROTOCOL_VERSION, revision.as_str())
    }

    /// Calls a tool.
    pub fn call(&self, tool: &str) -> Call<ToolResponse> {
        self.request("tools/call", json!({ "name": tool })).answered()
    }

    /// Reads a resource.
    pub fn read(&self, uri: &str) -> Call<ReadResponse> {
        self.request("resources/read", json!({ "uri": uri })).answered()
    }

    /// Gets a prompt.
    pub fn prompt(&self, name: &str) -> Call<PromptResponse> {
        self.request("prompts/get", json!({ "name": name })).answered()
    }

    /// Completes an argument of a prompt, of which `value` has been typed.
    pub fn complete_prompt(&self, prompt: &str, argument: &str, value: &str) -> Call<CompletionResponse> {
        self.complete(&json!({ "type": "ref/prompt", "name": prompt }), argument, value)
    }

    /// Completes a variable of a resource template, of which `value` has been typed.
    pub fn complete_resource(&self, template: &str, variable: &str, value: &str) -> Call<CompletionResponse> {
        self.complete(&json!({ "type": "ref/resource", "uri": template }), variable, value)
    }

    fn complete(&self, reference: &Value, name: &str, value: &str) -> Call<CompletionResponse> {
        let params = json!({ "ref": reference, "argument": { "name": name, "value": value } });
        self.request("completion/complete", params).answered()
    }

    /// Asks the server what it is and can do.
    pub fn discover(&self) -> Call<Response> {
        self.request("server/discover", json!({}))
    }

    /// All tools, from every page of the list.
    ///
    /// # Errors
    /// As the server answers; -32601 if it has no tools.
    pub async fn list_tools(&self) -> Result<Vec<Value>, RpcError> {
        self.list("tools/list", "tools").await
    }

    /// All resources, from every page of the list.
    ///
    /// # Errors
    /// As the server answers; -32601 if it has no resources.
    pub async fn list_resources(&self) -> Result<Vec<Value>, RpcError> {
        self.list("resources/list", "resources").await
    }

    /// All resource templates, from every page of the list.
    ///
    /// # Errors
    /// As the server answers; -32601 if it has no resources.
    pub async fn list_resource_templates(&self) -> Result<Vec<Value>, RpcError> {
        self.list("resources/templates/list", "resourceTemplates").await
    }

    /// All prompts, from every page of the list.
    ///
    /// # Errors
    /// As the server answers; -32601 if it has no prompts.
    pub async fn list_prompts(&self) -> Result<Vec<Value>, RpcError> {
        self.list("prompts/list", "prompts").await
    }

    async fn list(&self, method: &str, member: &str) -> Result<Vec<Value>, RpcError> {
        let (mut items, mut params) = (Vec::new(), json!({}));
        loop {
            let mut page = self.request(method, &params).await?.into_result();
            match page[member].take() {
                Value::Array(more) => items.extend(more),
                other => panic!("`{method}` answered with `{member}`: {other}"),
            }
            let next = page["nextCursor"].take();
            if next.is_null() {
                return Ok(items);
            }
            assert_ne!(next, params["cursor"], "`{method}` gives the cursor of a page for the next one");
            params = json!({ "cursor": next });
        }
    }

    /// Makes any request. Keys that its `_meta` lacks are added.
    ///
    /// # Panics
    /// If `params` is not an object.
    #[track_caller]
    pub fn request(&self, method: &str, params: impl Serialize) -> Call<Response> {
        Call::new(self.endpoint.now(), self.profile.clone(), self.ids.clone(), method, &params)
    }

    /// Subscribes to changes.
    pub fn listen(&self) -> Listen {
        Listen {
            engine: self.endpoint.now(),
            profile: self.profile.clone(),
            id: self.ids.next(),
            filter: Map::new(),
        }
    }

    /// Sends any bytes, as one message; returns all that the server sends for it.
    ///
    /// # Panics
    /// If the server sends what is not JSON.
    pub async fn raw(&self, message: impl Into<Vec<u8>>) -> Vec<Value> {
        let Profile { extensions, handshake, .. } = &self.profile;
        let mut exchange = handshake.raw(self.endpoint.now(), message.into(), extensions.clone());
        let mut messages = Vec::new();
        while let Some(lines) = exchange.lines().await {
            messages.extend(parse(&lines));
        }
        messages
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("endpoint", &self.endpoint.path()).finish_non_exhaustive()
    }
}
