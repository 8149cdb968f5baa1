//! What the compiler could not check: everything about an endpoint as a whole.

use std::collections::{BTreeMap, HashMap};

use super::{
    endpoint::Endpoint,
    fault::BuildFault,
    operation::{Completed, Place, Resource},
};
use crate::{
    handler::StateMap,
    protocol::{Revision, UriTemplate, is_absolute_uri, is_tool_name},
};

/// The most templates of one endpoint; each read may have to try them all.
const MOST_TEMPLATES: usize = 256;

/// Checks one endpoint.
pub(super) fn endpoint(endpoint: &Endpoint, state: &StateMap, faults: &mut Vec<BuildFault>) {
    if endpoint.is_empty() && !endpoint.may_be_filled_later() {
        faults.push(BuildFault::at(
            &endpoint.place,
            "the endpoint serves nothing; if its operations are in another crate, which nobody mentions, the linker \
             left them out: write `use that_crate as _;`",
        ));
    }
    path(endpoint, faults);
    identity(endpoint, faults);
    names(endpoint, faults);
    addresses(endpoint, faults);
    completions(endpoint, faults);
    states(endpoint, state, faults);
}

/// Checks that endpoints don't share a path.
pub(crate) fn paths(endpoints: &[Endpoint], faults: &mut Vec<BuildFault>) {
    let mut seen: BTreeMap<&str, &Place> = BTreeMap::new();
    for endpoint in endpoints {
        if let Some(first) = seen.insert(&endpoint.path, &endpoint.place) {
            faults.push(BuildFault::at(
                &endpoint.place,
                format!("the path `{}` belongs to {first} already", endpoint.path),
            ));
        }
    }
}

fn path(endpoint: &Endpoint, faults: &mut Vec<BuildFault>) {
    /// Longer ones would not fit into a request line that servers in front accept.
    const MOST_BYTES: usize = 8192;
    let path = endpoint.path.as_str();
    let segments = path.strip_prefix('/').unwrap_or_default();
    let fits = |segment: &str| {
        !segment.is_empty()
            && !matches!(segment, "." | "..")
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()+,;=:@".contains(&byte))
    };
    if path.len() > MOST_BYTES || !path.starts_with('/') || !segments.split('/').all(fits) {
        faults.push(BuildFault::at(
            &endpoint.place,
            format!("`{path}` is no path for an endpoint: write it plainly, such as `/catalog/mcp`"),
        ));
    }
}

fn identity(endpoint: &Endpoint, faults: &mut Vec<BuildFault>) {
    for (what, value) in [("name", &endpoint.name), ("version", &endpoint.version)] {
        if value.trim().is_empty() {
            faults.push(BuildFault::at(&endpoint.place, format!("the endpoint's {what} is empty")));
        }
    }
    if let Some(url) = endpoint.website_url.as_deref().filter(|url| !is_absolute_uri(url)) {
        faults.push(BuildFault::at(&endpoint.place, format!("`website_url` is not absolute: `{url}`")));
    }
    if endpoint.revisions.as_ref().is_some_and(Vec::is_empty) {
        let known = Revision::ALL.map(Revision::as_str).join(", ");
        faults.push(BuildFault::at(
            &endpoint.place,
            format!("the endpoint serves no revision: leave `revisions` out, or name some of {known}"),
        ));
    }
}

fn names(endpoint: &Endpoint, faults: &mut Vec<BuildFault>) {
    let tools: Vec<_> =
        endpoint.tools.iter().map(|tool| (tool.common.name.as_str(), &tool.common.place)).collect();
    let prompts: Vec<_> =
        endpoint.prompts.iter().map(|prompt| (prompt.common.name.as_str(), &prompt.common.place)).collect();
    for (what, named) in [("tool", tools), ("prompt", prompts)] {
        let mut seen: HashMap<&str, &Place> = HashMap::new();
        for (name, place) in named {
            if !is_tool_name(name) {
                faults.push(BuildFault::at(
                    place,
                    format!("`{name}` is no name for a {what}: use 1 to 128 of `A-Z a-z 0-9 _ . -`"),
                ));
            }
            if let Some(first) = seen.insert(name, place) {
                faults.push(BuildFault::at(
                    place,
                    format!("the {what} name `{name}` belongs to {first} already: set `name = \"…\"` on one of them"),
                ));
            }
        }
    }
    if let [first, second, ..] = &*endpoint.resource_lists {
        faults.push(BuildFault::at(
            &second.common.place,
            format!("an endpoint has one resource list, and {} is one already", first.common.place),
        ));
    }
}

fn addresses(endpoint: &Endpoint, faults: &mut Vec<BuildFault>) {
    let mut exact: HashMap<&str, &Place> = HashMap::new();
    let mut templates: Vec<(UriTemplate, &Place)> = Vec::new();
    for resource in &endpoint.resources {
        let place = &resource.common.place;
        if resource.uri.contains(['{', '}']) {
            if let Err(error) = UriTemplate::parse(&resource.uri) {
                faults.push(BuildFault::at(place, format!("`{}` is no URI template: {error}", resource.uri)));
            }
            if let Some(template) = resource.template() {
                let overlapping = templates.iter().find(|(other, _)| other.overlaps(&template));
                if let Some((other, first)) = overlapping {
                    faults.push(BuildFault::at(
                        place,
                        format!(
                            "a URI could match both `{}` and `{}` of {first}",
                            resource.uri,
                            other.as_str()
                        ),
                    ));
                }
                templates.push((template, place));
            }
            if resource.size.is_some() {
                faults.push(BuildFault::at(place, "a template has no size: its resources differ"));
            }
        } else {
            if !is_absolute_uri(&resource.uri) {
                let message =
                    format!("`{}` is no absolute URI: begin with a scheme, such as `app://`", resource.uri);
                faults.push(BuildFault::at(place, message));
            }
            if let Some(first) = exact.insert(&resource.uri, place) {
                faults.push(BuildFault::at(
                    place,
                    format!("the URI `{}` belongs to {first} already", resource.uri),
                ));
            }
        }
    }
    if templates.len() > MOST_TEMPLATES {
        faults.push(BuildFault::at(
            &endpoint.place,
            format!(
                "{} URI templates are more than the {MOST_TEMPLATES} that one endpoint may have",
                templates.len()
            ),
        ));
    }
}

fn completions(endpoint: &Endpoint, faults: &mut Vec<BuildFault>) {
    let mut seen: HashMap<(&Completed, &str), &Place> = HashMap::new();
    for completion in &endpoint.completions {
        let place = &completion.common.place;
        let argument = completion.argument.as_str();
        let exists = match &completion.target {
            Completed::Prompt(name) => {
                let prompt = endpoint.prompts.iter().find(|prompt| prompt.common.name == *name);
                if prompt.is_none() {
                    faults.push(BuildFault::at(
                        place,
                        format!("completes the prompt `{name}`, which does not exist"),
                    ));
                }
                prompt.is_none_or(|prompt| prompt.arguments.iter().any(|known| known.name == argument))
            }
            Completed::Resource(uri) => {
                let resource = endpoint.resources.iter().find(|resource| resource.uri == *uri);
                if resource.is_none() {
                    let message =
                        format!("completes the resource `{uri}`, which does not exist: repeat its template");
                    faults.push(BuildFault::at(place, message));
                }
                let template = resource.and_then(Resource::template);
                resource.is_none()
                    || template.is_some_and(|template| template.variables().any(|known| known == argument))
            }
        };
        if !exists {
            faults.push(BuildFault::at(
                place,
                format!("completes the argument `{argument}`, which does not exist"),
            ));
        }
        if let Some(first) = seen.insert((&completion.target, argument), place) {
            faults.push(BuildFault::at(
                place,
                format!("the argument `{argument}` is completed by {first} already"),
            ));
        }
    }
}

fn states(endpoint: &Endpoint, state: &StateMap, faults: &mut Vec<BuildFault>) {
    for common in endpoint.operations() {
        for (id, name) in common.needs().states() {
            if !state.contains(*id) {
                faults.push(BuildFault::at(
                    &common.place,
                    format!("takes `State<{name}>`, and no such value was provided: add `.state(value)` to the server"),
                ));
            }
        }
    }
}
