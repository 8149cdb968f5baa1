//! An endpoint as it is served: immutable, looked up by name, its lists and schemas ready.

use std::{
    collections::{BTreeSet, HashMap},
    hash::{DefaultHasher, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    asking::{self, Asks},
    check,
    closure::Runner,
    constraints::{Validator, any_keyword},
    descriptor::ExtraArguments,
    endpoint::{Endpoint, Subscribable},
    fault::BuildFault,
    identity,
    lists::{self, Pages},
    mirror::{MirroredHeader, mirrored_headers},
    operation::{Common, Completed, Resource, Tool},
    revised,
    schema::{self, Derived},
    view::{CatalogItem, CatalogView},
};
use crate::{
    handler::{EndpointInfo, StateMap},
    protocol::{CacheHint, Capabilities, ChangeKind, ListKind, ReferenceTarget, Revision, UriTemplate, Wire},
};

/// A year is as good as for ever, and clocks can't add much more.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// What all served operations have.
pub(crate) struct Entry {
    pub name: Arc<str>,
    /// The handler and where it stands in the sources.
    pub place: Arc<str>,
    pub runner: Runner,
    pub timeout: Option<Duration>,
    pub requires: Capabilities,
    /// What its handler may ask of the client.
    pub asks: Capabilities,
    /// Whether it asks at all.
    pub asking: Asks,
    pub cache: CacheHint,
}

/// A served tool.
pub(crate) struct ToolEntry {
    pub entry: Entry,
    /// The names of its arguments, if others are refused.
    pub known: Option<Vec<String>>,
    pub headers: Vec<MirroredHeader>,
    pub input: Option<Validator>,
    /// The names of arguments for which null counts as absent.
    pub optional: Vec<String>,
    pub output: Option<Validator>,
    /// Whether older revisions can have its structured content: its schema, if it has one, is that of an object.
    pub legacy_structure: bool,
}

/// A served resource or template.
pub(crate) struct ResourceEntry {
    pub entry: Entry,
    pub mime_type: Option<Arc<str>>,
}

/// A served prompt.
pub(crate) struct PromptEntry {
    pub entry: Entry,
    pub known: Vec<String>,
}

/// One endpoint, ready to be served.
pub(crate) struct Catalog {
    pub info: Arc<EndpointInfo>,
    /// The revisions that are served, newest first.
    pub revisions: Vec<Revision>,
    /// The form of results in each of [`Revision::ALL`].
    wires: [Arc<Wire>; Revision::ALL.len()],
    /// The result of `server/discover`.
    pub discover: Bytes,
    /// The results of `initialize`, of the revisions that have it, newest first.
    initialize: Vec<(Revision, Bytes)>,
    /// What clients may subscribe to.
    pub changes: Vec<ChangeKind>,
    subscribable: Option<Subscribable>,
    pub tools: HashMap<Arc<str>, Arc<ToolEntry>>,
    pub prompts: HashMap<Arc<str>, PromptEntry>,
    resources: HashMap<Arc<str>, ResourceEntry>,
    templates: Vec<(UriTemplate, ResourceEntry)>,
    completions: HashMap<(Completed, String), Entry>,
    pub resource_list: Option<Entry>,
    pub tool_pages: Option<Pages>,
    pub prompt_pages: Option<Pages>,
    pub resource_pages: Option<Pages>,
    pub template_pages: Option<Pages>,
}

/// A resource that was found, with the values of its template's variables.
pub(crate) struct Found<'c> {
    pub resource: &'c ResourceEntry,
    /// Its URI, or the text of its template.
    declared: &'c str,
    pub variables: Vec<(&'c str, String)>,
}

impl Completed {
    /// Whether it exists in somebody's view.
    pub(crate) fn is_in(&self, view: &CatalogView) -> bool {
        view.has(match self {
            Self::Prompt(name) => CatalogItem::Prompt(name),
            Self::Resource(uri) => CatalogItem::Resource(uri),
        })
    }
}

impl Found<'_> {
    /// Whether it exists in somebody's view.
    pub(crate) fn is_in(&self, view: &CatalogView) -> bool {
        view.has(CatalogItem::Resource(self.declared))
    }
}

impl Catalog {
    /// Checks an endpoint and makes its catalog. Faults are added; the catalog of a faulty endpoint means nothing.
    pub(crate) fn build(
        endpoint: &Endpoint,
        state: &StateMap,
        per_page: usize,
        faults: &mut Vec<BuildFault>,
    ) -> Self {
        check::endpoint(endpoint, state, faults);
        asking::check(endpoint, faults);
        let revisions = revisions(endpoint);
        let server_info = json!({ "name": endpoint.name, "version": endpoint.version }).to_string();
        let wires = Revision::ALL.map(|revision| Arc::new(Wire::new(revision, &*server_info)));
        let served: Vec<Arc<Wire>> =
            revisions.iter().map(|&revision| Arc::clone(&wires[revision as usize])).collect();
        let pages = |kind, items| Pages::new(kind, items, per_page, endpoint.cache, &served);

        let mut tools = HashMap::new();
        let mut tool_items = Vec::new();
        for tool in &endpoint.tools {
            match tool_entry(tool, endpoint) {
                Ok((entry, item)) => {
                    tool_items.push(item);
                    tools.insert(entry.entry.name.clone(), Arc::new(entry));
                }
                Err(fault) => faults.push(fault),
            }
        }

        let mut prompts = HashMap::new();
        for prompt in &endpoint.prompts {
            let Some(entry) = entry(&prompt.common, endpoint.cache, faults) else {
                continue;
            };
            let known = prompt.arguments.iter().map(|argument| argument.name.clone()).collect();
            prompts.insert(entry.name.clone(), PromptEntry { entry, known });
        }

        let mut resources = HashMap::new();
        let mut templates = Vec::new();
        let (mut resource_items, mut template_items) = (Vec::new(), Vec::new());
        for resource in &endpoint.resources {
            let Some(served) = resource_entry(resource, faults) else {
                continue;
            };
            match resource.template() {
                None => {
                    resource_items.push(lists::resource(resource, false));
                    resources.insert(resource.uri.as_str().into(), served);
                }
                Some(template) => {
                    template_items.push(lists::resource(resource, true));
                    templates.push((template, served));
                }
            }
        }

        let mut completions = HashMap::new();
        for completion in &endpoint.completions {
            if let Some(entry) = entry(&completion.common, endpoint.cache, faults) {
                completions.insert((completion.target.clone(), completion.argument.clone()), entry);
            }
        }
        let resource_list =
            endpoint.resource_lists.first().and_then(|list| entry(&list.common, endpoint.cache, faults));

        let prompt_items = endpoint.prompts.iter().map(lists::prompt).collect();
        Self {
            info: Arc::new(EndpointInfo {
                path: endpoint.path.as_str().into(),
                name: endpoint.name.as_str().into(),
                version: endpoint.version.as_str().into(),
            }),
            discover: identity::discover(endpoint, &revisions),
            initialize: legacy(&revisions)
                .map(|revision| (revision, identity::initialize(endpoint, revision)))
                .collect(),
            changes: endpoint.changes.clone(),
            subscribable: endpoint.subscribable.clone(),
            tool_pages: endpoint.serves_tools().then(|| pages(ListKind::Tools, tool_items)),
            prompt_pages: endpoint.serves_prompts().then(|| pages(ListKind::Prompts, prompt_items)),
            resource_pages: endpoint.serves_resources().then(|| pages(ListKind::Resources, resource_items)),
            template_pages: endpoint
                .serves_resources()
                .then(|| pages(ListKind::ResourceTemplates, template_items)),
            revisions,
            tools,
            prompts,
            resources,
            templates,
            completions,
            resource_list,
            wires,
        }
    }

    /// The resource at a URI: an exact one before a template.
    pub(crate) fn resource(&self, uri: &str) -> Option<Found<'_>> {
        if let Some((declared, resource)) = self.resources.get_key_value(uri) {
            return Some(Found { resource, declared, variables: Vec::new() });
        }
        self.templates.iter().find_map(|(template, resource)| {
            template.match_uri(uri).map(|variables| Found {
                resource,
                declared: template.as_str(),
                variables,
            })
        })
    }

    /// A short form of what somebody sees of each list. What the application lists itself may differ at any time.
    pub(crate) fn digests(&self, view: &CatalogView) -> [u64; 3] {
        static OWN_LISTS: AtomicU64 = AtomicU64::new(0);
        let lists = [
            [self.tool_pages.as_ref(), None],
            [self.prompt_pages.as_ref(), None],
            [self.resource_pages.as_ref(), self.template_pages.as_ref()],
        ];
        let mut digests = lists.map(|pages| {
            let mut state = DefaultHasher::new();
            pages.into_iter().flatten().for_each(|pages| pages.digest(view, &mut state));
            state.finish()
        });
        if self.resource_list.is_some() {
            digests[2] = OWN_LISTS.fetch_add(1, Relaxed);
        }
        digests
    }

    /// Whether updates of a resource can be told: it is served, as the client spells it or in its normal form, or the
    /// endpoint accepts it all the same.
    pub(crate) fn is_subscribable(&self, view: &CatalogView, spelling: &str, normal: &str) -> bool {
        let served = self.resource(spelling).or_else(|| self.resource(normal));
        served.is_some_and(|found| found.is_in(view))
            || self.subscribable.as_ref().is_some_and(|subscribable| subscribable.accepts(normal))
    }

    /// What a completion is asked for, if that exists; a URI stands for the template that it matches.
    pub(crate) fn completed(&self, reference: ReferenceTarget<'_>) -> Option<Completed> {
        match reference {
            ReferenceTarget::Prompt(name) => {
                self.prompts.contains_key(name).then(|| Completed::Prompt(name.to_owned()))
            }
            ReferenceTarget::Resource(uri) if self.resources.contains_key(uri) => {
                Some(Completed::Resource(uri.to_owned()))
            }
            ReferenceTarget::Resource(uri) => {
                let meant =
                    |template: &UriTemplate| template.as_str() == uri || template.match_uri(uri).is_some();
                let (template, _) = self.templates.iter().find(|(template, _)| meant(template))?;
                Some(Completed::Resource(template.as_str().to_owned()))
            }
        }
    }

    /// What completes an argument; `None` if nothing does.
    pub(crate) fn completion(&self, target: Completed, argument: &str) -> Option<&Entry> {
        self.completions.get(&(target, argument.to_owned()))
    }

    /// Whether an operation asks its client, and leaves the state between rounds to the framework.
    pub(crate) fn asks(&self) -> bool {
        let tools = self.tools.values().map(|tool| &tool.entry);
        let prompts = self.prompts.values().map(|prompt| &prompt.entry);
        let exact = self.resources.values();
        let resources =
            exact.chain(self.templates.iter().map(|(_, template)| template)).map(|resource| &resource.entry);
        tools.chain(prompts).chain(resources).any(|entry| entry.asking == Asks::Sealed)
    }

    /// Whether any argument can be completed.
    pub(crate) fn has_completions(&self) -> bool {
        !self.completions.is_empty()
    }

    /// The form of results in a revision.
    pub(crate) fn wire(&self, revision: Revision) -> &Arc<Wire> {
        &self.wires[revision as usize]
    }

    /// The newest revision of those that `initialize` opens, if one is served.
    pub(crate) fn newest_legacy(&self) -> Option<Revision> {
        self.initialize.first().map(|(revision, _)| *revision)
    }

    /// The result of `initialize` in a revision that it opens.
    pub(crate) fn initialize(&self, revision: Revision) -> Option<&Bytes> {
        self.initialize.iter().find(|(served, _)| *served == revision).map(|(_, result)| result)
    }

    /// The names of all revisions that are served, newest first.
    pub(crate) fn revision_names(&self) -> Vec<&'static str> {
        self.revisions.iter().map(|revision| revision.as_str()).collect()
    }
}

/// The revisions that an endpoint serves, newest first.
fn revisions(endpoint: &Endpoint) -> Vec<Revision> {
    let mut revisions = endpoint.revisions.clone().unwrap_or_else(|| Revision::ALL.to_vec());
    revisions.sort_unstable_by(|left, right| right.cmp(left));
    revisions.dedup();
    revisions
}

fn legacy(revisions: &[Revision]) -> impl Iterator<Item = Revision> {
    revisions.iter().copied().filter(|revision| !revision.is_modern())
}

fn entry(common: &Common, cache: CacheHint, faults: &mut Vec<BuildFault>) -> Option<Entry> {
    let Some(runner) = common.runner.clone() else {
        faults.push(BuildFault::at(&common.place, "has no handler: give it one with `.handler(…)`"));
        return None;
    };
    Some(Entry {
        name: common.name.as_str().into(),
        place: common.place.to_string().into(),
        runner,
        timeout: common.timeout.map(|timeout| timeout.min(LONGEST_TIMEOUT)),
        requires: common.requires,
        asks: common.asks,
        asking: Asks::of(common),
        cache: common.cache.unwrap_or(cache),
    })
}

fn resource_entry(resource: &Resource, faults: &mut Vec<BuildFault>) -> Option<ResourceEntry> {
    let entry = entry(&resource.common, CacheHint::default(), faults)?;
    Some(ResourceEntry { entry, mime_type: resource.mime_type.as_deref().map(Into::into) })
}

fn tool_entry(tool: &Tool, endpoint: &Endpoint) -> Result<(ToolEntry, Value), BuildFault> {
    let fault = |message: String| BuildFault::at(&tool.common.place, message);
    let refuse_extra = tool.extra_arguments.unwrap_or(endpoint.extra_arguments) == ExtraArguments::Refuse;
    let Derived { schema: input, unenforced } = match &tool.input_schema {
        Some(schema) => Derived { schema: schema.clone(), unenforced: any_keyword(schema) },
        None => schema::input_schema(&tool.common.parameters, refuse_extra).map_err(fault)?,
    };
    if input.get("type").is_none_or(|kind| kind != "object") {
        return Err(fault("its input schema must be an object with `\"type\": \"object\"`".to_owned()));
    }
    let output = schema::output_schema(tool.output_schema);
    let headers = mirrored_headers(&input).map_err(fault)?;
    let names: Vec<String> = input
        .get("properties")
        .and_then(Value::as_object)
        .map(|all| all.keys().cloned().collect())
        .unwrap_or_default();
    let required: BTreeSet<&str> = input
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let closed = input.get("additionalProperties") == Some(&Value::Bool(false));
    let optional = names.iter().filter(|name| !required.contains(name.as_str())).cloned().collect();
    let mut none = Vec::new();
    let entry = entry(&tool.common, endpoint.cache, &mut none);
    let Some(entry) = entry else {
        return Err(none.remove(0));
    };
    let served = ToolEntry {
        entry,
        known: closed.then_some(names),
        headers,
        optional,
        input: Validator::compile(&input, unenforced.as_deref()).map_err(fault)?,
        output: output
            .as_ref()
            .map(|derived| Validator::compile(&derived.schema, derived.unenforced.as_deref()))
            .transpose()
            .map_err(fault)?
            .flatten(),
        legacy_structure: output.as_ref().is_none_or(|derived| revised::is_object(&derived.schema)),
    };
    let output = output.as_ref().map(|derived| &derived.schema);
    Ok((served, lists::tool(&tool.common, tool.hints, &input, output)))
}
