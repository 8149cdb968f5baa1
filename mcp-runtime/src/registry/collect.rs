//! From what the attributes submitted to endpoints.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use super::{
    closure::Runner,
    descriptor::{
        CacheDescriptor, CompletionTarget, EndpointDescriptor, EndpointId, EndpointRef, Instance,
        OperationDescriptor, OperationKind, Origin, ParameterDescriptor, Registration,
    },
    endpoint::{Endpoint, Subscribable},
    fault::BuildFault,
    operation::{
        Common, Completed, CompletionSource, Place, Prompt, PromptArgument, Resource, ResourceList, Tool,
        ToolHints,
    },
};
use crate::protocol::{CacheHint, Icon};

/// Which of the linked annotations a server takes.
#[derive(Clone, Debug)]
pub(crate) enum Selection {
    /// All, or those of some crates.
    All { only_crates: Option<Vec<String>> },
    /// The endpoints that were named.
    Named(Vec<EndpointId>),
}

/// The endpoints that were selected, in the order of their declarations.
pub(crate) struct Collected {
    pub endpoints: Vec<Endpoint>,
    /// How many operations each crate has given.
    pub operations_per_crate: BTreeMap<&'static str, usize>,
}

/// Gathers the selected annotations of the whole program.
pub(crate) fn collect(
    selection: &Selection,
    instances: &HashMap<EndpointId, Instance>,
    faults: &mut Vec<BuildFault>,
) -> Collected {
    let mut declared: Vec<&EndpointDescriptor> = Vec::new();
    let mut operations: Vec<&OperationDescriptor> = Vec::new();
    for registration in inventory::iter::<Registration> {
        match registration {
            Registration::Endpoint(endpoint) => declared.push(endpoint),
            Registration::Operation(operation) => operations.push(operation),
            Registration::Form(_) => {}
        }
    }
    // The order of the linker means nothing.
    declared.sort_by_key(|endpoint| order(&endpoint.origin));
    operations.sort_by_key(|operation| order(&operation.origin));
    check_crates(selection, &declared, &operations, faults);

    let takes_crate = |origin: &Origin| match selection {
        Selection::All { only_crates: Some(names) } => {
            names.iter().any(|name| same_crate(name, origin.crate_name))
        }
        Selection::All { only_crates: None } => true,
        Selection::Named(_) => false,
    };
    let takes = |endpoint: &EndpointDescriptor| match selection {
        Selection::Named(ids) => ids.contains(&endpoint.id),
        Selection::All { .. } => takes_crate(&endpoint.origin),
    };
    declared.retain(|endpoint| takes(endpoint));

    let mut endpoints: Vec<Endpoint> = declared.iter().map(|endpoint| from_declared(endpoint)).collect();
    let mut defaults: Vec<Endpoint> = Vec::new();
    let mut operations_per_crate = BTreeMap::new();
    for operation in operations {
        let endpoint = match operation.endpoint {
            EndpointRef::Type(id) => match endpoints.iter_mut().find(|endpoint| endpoint.id == Some(id)) {
                Some(endpoint) => endpoint,
                None => continue,
            },
            EndpointRef::CrateDefault if takes_crate(&operation.origin) => {
                default_endpoint(&mut defaults, operation, &declared, faults)
            }
            EndpointRef::CrateDefault => continue,
        };
        *operations_per_crate.entry(operation.origin.crate_name).or_insert(0) += 1;
        add(endpoint, operation, &declared, instances, faults);
    }
    if let [first, second, ..] = &*defaults {
        faults.push(BuildFault::at(
            &second.place,
            format!(
                "the crates `{}` and `{}` both have operations without an endpoint: give each an \
                 `#[mcp_endpoint(path = …)]` of its own, or take one with `only_crates`",
                first.name, second.name
            ),
        ));
    }
    endpoints.extend(defaults);
    Collected { endpoints, operations_per_crate }
}

fn order(origin: &Origin) -> (&'static str, &'static str, u32, u32) {
    (origin.crate_name, origin.file, origin.line, origin.column)
}

fn same_crate(left: &str, right: &str) -> bool {
    left.replace('-', "_") == right.replace('-', "_")
}

fn check_crates(
    selection: &Selection,
    declared: &[&EndpointDescriptor],
    operations: &[&OperationDescriptor],
    faults: &mut Vec<BuildFault>,
) {
    let Selection::All { only_crates: Some(names) } = selection else {
        return;
    };
    let mut known: Vec<&str> = declared.iter().map(|endpoint| endpoint.origin.crate_name).collect();
    known.extend(operations.iter().map(|operation| operation.origin.crate_name));
    known.sort_unstable();
    known.dedup();
    for name in names.iter().filter(|name| !known.iter().any(|known| same_crate(name, known))) {
        let module = name.replace('-', "_");
        faults.push(BuildFault::new(format!(
            "`only_crates` names `{name}`, of which nothing is linked (linked are: {}); a library that nobody \
             mentions is left out by the linker: write `use {module} as _;`",
            if known.is_empty() { "none".to_owned() } else { known.join(", ") }
        )));
    }
}

fn from_declared(descriptor: &EndpointDescriptor) -> Endpoint {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Endpoint {
        id: Some(descriptor.id),
        name: descriptor.name.to_owned(),
        version: descriptor.version.to_owned(),
        title: owned(descriptor.title),
        description: owned(descriptor.description),
        website_url: owned(descriptor.website_url),
        instructions: owned(descriptor.instructions),
        icons: descriptor.icons.iter().copied().map(Icon::from).collect(),
        revisions: (!descriptor.revisions.is_empty()).then(|| descriptor.revisions.to_vec()),
        cache: descriptor.cache.map(cache_hint).unwrap_or_default(),
        extra_arguments: descriptor.extra_arguments.unwrap_or_default(),
        changes: descriptor.changes.to_vec(),
        subscribable: descriptor.subscribable.map(Subscribable::new),
        ..Endpoint::empty(descriptor.path.to_owned(), Place::annotated(descriptor.origin))
    }
}

/// The default endpoint of an operation's crate, made when the first operation asks for it.
fn default_endpoint<'e>(
    defaults: &'e mut Vec<Endpoint>,
    operation: &OperationDescriptor,
    declared: &[&EndpointDescriptor],
    faults: &mut Vec<BuildFault>,
) -> &'e mut Endpoint {
    let origin = operation.origin;
    if let Some(at) = defaults.iter().position(|endpoint| endpoint.name == origin.crate_name) {
        return &mut defaults[at];
    }
    let place = Place::annotated(origin);
    if let Some(endpoint) = declared.iter().find(|endpoint| endpoint.origin.crate_name == origin.crate_name) {
        faults.push(BuildFault::at(
            &place,
            format!(
                "names no endpoint, but its crate declares {}: write `endpoint = {}`",
                Place::annotated(endpoint.origin),
                endpoint.origin.item
            ),
        ));
    }
    let mut endpoint = Endpoint::empty("/mcp".to_owned(), place);
    origin.crate_name.clone_into(&mut endpoint.name);
    origin.crate_version.clone_into(&mut endpoint.version);
    defaults.push(endpoint);
    let last = defaults.len() - 1;
    &mut defaults[last]
}

fn cache_hint(descriptor: CacheDescriptor) -> CacheHint {
    CacheHint { ttl: Duration::from_millis(descriptor.ttl_ms), scope: descriptor.scope.into() }
}

fn add(
    endpoint: &mut Endpoint,
    operation: &OperationDescriptor,
    declared: &[&EndpointDescriptor],
    instances: &HashMap<EndpointId, Instance>,
    faults: &mut Vec<BuildFault>,
) {
    let common = common(operation, endpoint.id, declared, instances, faults);
    match &operation.kind {
        OperationKind::Tool(tool) => endpoint.tools.push(Tool {
            common,
            hints: ToolHints {
                read_only: tool.read_only,
                destructive: tool.destructive,
                idempotent: tool.idempotent,
                open_world: tool.open_world,
            },
            input_schema: tool.input_schema.map(|make| make()),
            extra_arguments: tool.extra_arguments,
            output_schema: tool.output_schema,
        }),
        OperationKind::Resource(resource) => endpoint.resources.push(Resource {
            common,
            uri: resource.uri.to_owned(),
            mime_type: resource.mime_type.map(str::to_owned),
            size: resource.size,
        }),
        OperationKind::ResourceList => endpoint.resource_lists.push(ResourceList { common }),
        OperationKind::Prompt => {
            endpoint.prompts.push(Prompt { common, arguments: prompt_arguments(operation.parameters) });
        }
        OperationKind::Completion(completion) => endpoint.completions.push(CompletionSource {
            common,
            target: match completion.target {
                CompletionTarget::Prompt(name) => Completed::Prompt(name.to_owned()),
                CompletionTarget::Resource(uri) => Completed::Resource(uri.to_owned()),
            },
            argument: completion.argument.to_owned(),
        }),
    }
}

fn common(
    operation: &OperationDescriptor,
    endpoint: Option<EndpointId>,
    declared: &[&EndpointDescriptor],
    instances: &HashMap<EndpointId, Instance>,
    faults: &mut Vec<BuildFault>,
) -> Common {
    let place = Place::annotated(operation.origin);
    let owner = declared.iter().find(|declared| Some(declared.id) == endpoint);
    let mut instance = None;
    if let (true, Some(owner)) = (operation.takes_instance, owner) {
        instance = instances.get(&owner.id).cloned().or_else(|| owner.construct.map(|construct| construct()));
        if instance.is_none() {
            faults.push(BuildFault::at(
                &place,
                format!(
                    "takes `&self`, and no instance of {} was given: hand it over with `.endpoint({} {{ … }})`",
                    Place::annotated(owner.origin),
                    owner.origin.item
                ),
            ));
        }
    }
    Common {
        name: operation.name.to_owned(),
        title: operation.title.map(str::to_owned),
        description: operation.description.map(str::to_owned),
        icons: operation.icons.iter().copied().map(Icon::from).collect(),
        timeout: operation.timeout_ms.map(Duration::from_millis),
        requires: operation.requires,
        asks: operation.asks,
        cache: operation.cache.map(cache_hint),
        place,
        runner: Some(Runner::Annotated(operation.start, instance)),
        parameters: operation.parameters.to_vec(),
    }
}

fn prompt_arguments(parameters: &[ParameterDescriptor]) -> Vec<PromptArgument> {
    let arguments = parameters.iter().filter(|parameter| !parameter.erased.injected);
    arguments
        .map(|parameter| PromptArgument {
            name: parameter.name.to_owned(),
            title: parameter.title.map(str::to_owned),
            description: parameter.description.map(str::to_owned),
            required: parameter.default.is_none() && !(parameter.erased.accepts_absence)(),
        })
        .collect()
}
