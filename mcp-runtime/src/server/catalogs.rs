//! Catalogs that change while they are served.

use std::sync::Arc;

use crate::{
    engine::Live,
    registry::{BuildError, Endpoint, Prompt, Resource, Tool},
    subscription::ChangeKind,
};

/// The catalogs of a running server: what its endpoints serve, and to whom.
#[derive(Clone, Debug)]
pub struct Catalogs(Arc<[Live]>);

impl Catalogs {
    pub(super) fn new(endpoints: Arc<[Live]>) -> Self {
        Self(endpoints)
    }

    /// Adds to and removes from what the endpoint at a path serves. Requests that come from now on see all of it;
    /// those that are being answered see what was there before. Streams that listen to the lists are told.
    ///
    /// ```
    /// use mcp_runtime::prelude::*;
    ///
    /// # fn main() -> Result<(), BuildError> {
    /// let endpoint = Endpoint::builder("/mcp").tool(Tool::new("ping").handler(|| async { "pong" }));
    /// let server = McpServer::builder().endpoint(endpoint).build()?;
    /// server.catalogs().edit("/mcp", |catalog| {
    ///     catalog.remove_tool("ping");
    ///     catalog.add_tool(Tool::new("beep").handler(|| async { "boop" }));
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`build`](super::ServerBuilder::build), and if no endpoint is at this path. Nothing has changed then.
    pub fn edit(&self, path: &str, edit: impl FnOnce(&mut CatalogEdit<'_>)) -> Result<(), BuildError> {
        Live::at(&self.0, path)?.edit(|endpoint| {
            let mut catalog = CatalogEdit { endpoint, changed: Vec::new() };
            edit(&mut catalog);
            catalog.changed
        })
    }

    /// Says that lists may have changed for some callers: permissions or translations are others now. Streams are
    /// told if their caller's view has changed; without a [`CatalogPolicy`](crate::registry::CatalogPolicy), all are.
    pub fn invalidate(&self) {
        for engine in self.0.iter().map(Live::now) {
            engine.shared.subscriptions.all_lists_changed(engine.number);
        }
    }
}

/// One endpoint's catalog, being edited.
#[derive(Debug)]
pub struct CatalogEdit<'e> {
    endpoint: &'e mut Endpoint,
    changed: Vec<ChangeKind>,
}

impl CatalogEdit<'_> {
    fn changed(&mut self, kind: ChangeKind) {
        if !self.changed.contains(&kind) {
            self.changed.push(kind);
        }
    }

    /// Adds a tool.
    pub fn add_tool(&mut self, tool: Tool) {
        self.endpoint.tools.push(tool);
        self.changed(ChangeKind::Tools);
    }

    /// Removes the tool of a name; false if there is none.
    pub fn remove_tool(&mut self, name: &str) -> bool {
        let before = self.endpoint.tools.len();
        self.endpoint.tools.retain(|tool| tool.common.name != name);
        self.removed(before > self.endpoint.tools.len(), ChangeKind::Tools)
    }

    /// Adds a prompt.
    pub fn add_prompt(&mut self, prompt: Prompt) {
        self.endpoint.prompts.push(prompt);
        self.changed(ChangeKind::Prompts);
    }

    /// Removes the prompt of a name; false if there is none.
    pub fn remove_prompt(&mut self, name: &str) -> bool {
        let before = self.endpoint.prompts.len();
        self.endpoint.prompts.retain(|prompt| prompt.common.name != name);
        self.removed(before > self.endpoint.prompts.len(), ChangeKind::Prompts)
    }

    /// Adds a resource or a template.
    pub fn add_resource(&mut self, resource: Resource) {
        self.endpoint.resources.push(resource);
        self.changed(ChangeKind::Resources);
    }

    /// Removes the resource of a URI, or the template of a text; false if there is none.
    pub fn remove_resource(&mut self, uri: &str) -> bool {
        let before = self.endpoint.resources.len();
        self.endpoint.resources.retain(|resource| resource.uri != uri);
        self.removed(before > self.endpoint.resources.len(), ChangeKind::Resources)
    }

    fn removed(&mut self, removed: bool, kind: ChangeKind) -> bool {
        if removed {
            self.changed(kind);
        }
        removed
    }
}
