//! An endpoint as data, filled by annotations or by hand.

use std::{fmt, panic::Location, sync::Arc};

use super::{
    descriptor::{DeclaredEndpoint, EndpointId, ExtraArguments},
    operation::{Common, CompletionSource, Place, Prompt, Resource, ResourceList, Tool},
};
use crate::protocol::{CacheHint, ChangeKind, Icon, Revision};

/// Whether a URI may be subscribed to that nothing serves.
#[derive(Clone)]
pub(crate) struct Subscribable(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl Subscribable {
    pub(super) fn new(accepts: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(accepts))
    }

    pub(crate) fn accepts(&self, uri: &str) -> bool {
        (self.0)(uri)
    }
}

impl fmt::Debug for Subscribable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribable").finish_non_exhaustive()
    }
}

/// An MCP endpoint: an identity, and what it serves.
///
/// Annotations make these by themselves; by hand, start with [`Endpoint::builder`].
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub(crate) id: Option<EndpointId>,
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) website_url: Option<String>,
    pub(crate) instructions: Option<String>,
    pub(crate) icons: Vec<Icon>,
    /// `None` for all.
    pub(crate) revisions: Option<Vec<Revision>>,
    pub(crate) cache: CacheHint,
    pub(crate) extra_arguments: ExtraArguments,
    pub(crate) changes: Vec<ChangeKind>,
    pub(crate) subscribable: Option<Subscribable>,
    pub(crate) place: Place,
    pub(crate) tools: Vec<Tool>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) resource_lists: Vec<ResourceList>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) completions: Vec<CompletionSource>,
}

impl Endpoint {
    /// An endpoint at a path, such as `/mcp`, to be filled.
    #[track_caller]
    pub fn builder(path: impl Into<String>) -> Self {
        let path = path.into();
        let place = Place::by_hand(&path, Location::caller());
        Self::empty(path, place)
    }

    /// Operations that are added to an annotated endpoint, after its own. Its identity stays as it is declared.
    #[track_caller]
    #[must_use]
    pub fn extending<E: DeclaredEndpoint>() -> Self {
        let descriptor = E::DESCRIPTOR;
        let place = Place::by_hand(descriptor.origin.item, Location::caller());
        Self { id: Some(descriptor.id), ..Self::empty(descriptor.path.to_owned(), place) }
    }

    /// Takes over another one's operations.
    pub(crate) fn extend(&mut self, other: Self) {
        for kind in other.changes {
            if !self.changes.contains(&kind) {
                self.changes.push(kind);
            }
        }
        self.subscribable = other.subscribable.or(self.subscribable.take());
        self.tools.extend(other.tools);
        self.resources.extend(other.resources);
        self.resource_lists.extend(other.resource_lists);
        self.prompts.extend(other.prompts);
        self.completions.extend(other.completions);
    }

    pub(super) fn empty(path: String, place: Place) -> Self {
        Self {
            id: None,
            path,
            name: "mcp-server".to_owned(),
            version: "0.0.0".to_owned(),
            title: None,
            description: None,
            website_url: None,
            instructions: None,
            icons: Vec::new(),
            revisions: None,
            cache: CacheHint::default(),
            extra_arguments: ExtraArguments::default(),
            changes: Vec::new(),
            subscribable: None,
            place,
            tools: Vec::new(),
            resources: Vec::new(),
            resource_lists: Vec::new(),
            prompts: Vec::new(),
            completions: Vec::new(),
        }
    }

    /// Sets the server's name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the server's version.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets a title for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what it is.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Names a page about it.
    #[must_use]
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.website_url = Some(url.into());
        self
    }

    /// Says how a model should use it.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds an image that stands for it.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// Serves these revisions only; otherwise, all that are known.
    ///
    /// Those before 2026-07-28 are served without sessions: requests can be made, and their progress is told, but
    /// there are no subscriptions and no log messages.
    #[must_use]
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.revisions = Some(revisions.into_iter().collect());
        self
    }

    /// How long its lists stay fresh, and for whom.
    #[must_use]
    pub fn cache(mut self, hint: CacheHint) -> Self {
        self.cache = hint;
        self
    }

    /// What its tools do with arguments that their schemas do not name.
    #[must_use]
    pub fn extra_arguments(mut self, extra: ExtraArguments) -> Self {
        self.extra_arguments = extra;
        self
    }

    /// What its clients may subscribe to. The server then needs a choice of who may: see
    /// [`subscription_authorizer`](crate::server::ServerBuilder::subscription_authorizer).
    #[must_use]
    pub fn changes(mut self, kinds: impl IntoIterator<Item = ChangeKind>) -> Self {
        self.changes = kinds.into_iter().collect();
        self
    }

    /// Lets clients subscribe to URIs that none of its resources or templates serves, if `accepts` says so of their
    /// normal form.
    #[must_use]
    pub fn subscribable(mut self, accepts: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.subscribable = Some(Subscribable::new(accepts));
        self
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds a resource or a template.
    #[must_use]
    pub fn resource(mut self, resource: Resource) -> Self {
        self.resources.push(resource);
        self
    }

    /// Lists resources by the application's own handler.
    #[must_use]
    pub fn resource_list(mut self, list: ResourceList) -> Self {
        self.resource_lists.push(list);
        self
    }

    /// Adds a prompt.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Adds the completion of an argument.
    #[must_use]
    pub fn completion(mut self, completion: CompletionSource) -> Self {
        self.completions.push(completion);
        self
    }

    /// What all of its operations share.
    pub(super) fn operations(&self) -> impl Iterator<Item = &Common> {
        let tools = self.tools.iter().map(|tool| &tool.common);
        let resources = self.resources.iter().map(|resource| &resource.common);
        let lists = self.resource_lists.iter().map(|list| &list.common);
        let prompts = self.prompts.iter().map(|prompt| &prompt.common);
        let completions = self.completions.iter().map(|completion| &completion.common);
        tools.chain(resources).chain(lists).chain(prompts).chain(completions)
    }

    /// Whether it was made by hand, and says that its lists change: then there may be nothing to begin with.
    pub(super) fn may_be_filled_later(&self) -> bool {
        self.id.is_none() && self.changes.iter().any(|kind| ChangeKind::LISTS.contains(kind))
    }

    pub(super) fn serves_tools(&self) -> bool {
        !self.tools.is_empty() || self.changes.contains(&ChangeKind::Tools)
    }

    pub(super) fn serves_prompts(&self) -> bool {
        !self.prompts.is_empty() || self.changes.contains(&ChangeKind::Prompts)
    }

    pub(super) fn serves_resources(&self) -> bool {
        !self.resources.is_empty()
            || !self.resource_lists.is_empty()
            || self.changes.iter().any(|kind| matches!(kind, ChangeKind::Resources | ChangeKind::Updates))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
            && self.resources.is_empty()
            && self.resource_lists.is_empty()
            && self.prompts.is_empty()
    }
}
