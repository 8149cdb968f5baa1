//! What an endpoint says of itself: the results of `server/discover` and `initialize`, made once.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::endpoint::Endpoint;
use crate::protocol::{ChangeKind, Revision, Wire, write_string};

/// The result of `server/discover`.
pub(super) fn discover(endpoint: &Endpoint, revisions: &[Revision]) -> Bytes {
    let names: Vec<&str> = revisions.iter().map(|revision| revision.as_str()).collect();
    let wire = Wire::new(Revision::LATEST, implementation(endpoint, Revision::LATEST).to_string());
    let mut out = Vec::new();
    wire.write_result(&mut out, &Map::new(), |out| {
        out.extend_from_slice(br#","supportedVersions":"#);
        out.extend_from_slice(json!(names).to_string().as_bytes());
        write_capabilities(out, &capabilities(endpoint, Revision::LATEST));
        write_instructions(out, endpoint);
        wire.write_cache(out, endpoint.cache);
    });
    out.into()
}

/// The result of `initialize` in a revision.
pub(super) fn initialize(endpoint: &Endpoint, revision: Revision) -> Bytes {
    let mut out = Vec::new();
    Wire::new(revision, "").write_result(&mut out, &Map::new(), |out| {
        out.extend_from_slice(br#","protocolVersion":"#);
        write_string(out, revision.as_str());
        write_capabilities(out, &capabilities(endpoint, revision));
        out.extend_from_slice(br#","serverInfo":"#);
        out.extend_from_slice(implementation(endpoint, revision).to_string().as_bytes());
        write_instructions(out, endpoint);
    });
    out.into()
}

fn write_capabilities(out: &mut Vec<u8>, capabilities: &Value) {
    out.extend_from_slice(br#","capabilities":"#);
    out.extend_from_slice(capabilities.to_string().as_bytes());
}

fn write_instructions(out: &mut Vec<u8>, endpoint: &Endpoint) {
    if let Some(instructions) = &endpoint.instructions {
        out.extend_from_slice(br#","instructions":"#);
        write_string(out, instructions);
    }
}

/// What can be asked for. Without a session there is nobody to tell of changes and no level for log messages, so older
/// revisions are promised neither.
fn capabilities(endpoint: &Endpoint, revision: Revision) -> Value {
    let modern = revision.is_modern();
    let mut capabilities = Map::new();
    let mut declare = |name: &str, served: bool, flags: &[(&str, ChangeKind)]| {
        if served {
            let flags = flags.iter().filter(|(_, kind)| modern && endpoint.changes.contains(kind));
            let flags: Map<String, Value> =
                flags.map(|(flag, _)| ((*flag).to_owned(), true.into())).collect();
            capabilities.insert(name.to_owned(), flags.into());
        }
    };
    declare("tools", endpoint.serves_tools(), &[("listChanged", ChangeKind::Tools)]);
    declare("prompts", endpoint.serves_prompts(), &[("listChanged", ChangeKind::Prompts)]);
    let of_resources = [("subscribe", ChangeKind::Updates), ("listChanged", ChangeKind::Resources)];
    declare("resources", endpoint.serves_resources(), &of_resources);
    declare("completions", !endpoint.completions.is_empty(), &[]);
    let logs = || endpoint.operations().any(|common| common.needs().uses_logging());
    declare("logging", modern && logs(), &[]);
    capabilities.into()
}

/// All that the server says of itself, as far as a revision has room for it.
fn implementation(endpoint: &Endpoint, revision: Revision) -> Value {
    let mut info = json!({ "name": endpoint.name, "version": endpoint.version });
    let mut set = |key: &str, value: &Option<String>| {
        if let Some(value) = value {
            info[key] = value.as_str().into();
        }
    };
    set("title", &endpoint.title);
    if revision.has_icons() {
        set("description", &endpoint.description);
        set("websiteUrl", &endpoint.website_url);
        if !endpoint.icons.is_empty() {
            info["icons"] = json!(endpoint.icons);
        }
    }
    info
}
