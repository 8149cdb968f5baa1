//! The keys of `#[mcp_endpoint]`, on a struct and on an `impl` block.

use proc_macro2::{Span, TokenStream};
use syn::{LitStr, Path};

use super::{
    icon::Icon,
    keys::{Keys, not_one_of},
    operation::{Cache, ExtraArguments},
};
use crate::diagnostics::Diagnostics;

/// What the attribute says on a struct. Required keys that are missing are reported and left out, so that the
/// endpoint exists all the same and whoever names it has no error.
pub struct EndpointAttribute {
    pub runtime: Option<Path>,
    pub path: Option<LitStr>,
    pub name: Option<LitStr>,
    pub version: Option<LitStr>,
    pub title: Option<LitStr>,
    pub description: Option<LitStr>,
    pub website_url: Option<LitStr>,
    pub instructions: Option<LitStr>,
    pub icons: Vec<Icon>,
    pub revisions: Vec<Revision>,
    pub cache: Option<Cache>,
    pub extra_arguments: Option<ExtraArguments>,
    pub changes: Vec<Change>,
    pub subscribable: Option<Path>,
}

/// A family of changes, as the runtime spells its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change(pub &'static str);

const CHANGES: [(&str, Change); 4] = [
    ("tools", Change("Tools")),
    ("prompts", Change("Prompts")),
    ("resources", Change("Resources")),
    ("updates", Change("Updates")),
];

/// A revision of the protocol, as the runtime spells its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revision(pub &'static str);

const REVISIONS: [(&str, Revision); 3] = [
    ("2025-06-18", Revision("V2025_06_18")),
    ("2025-11-25", Revision("V2025_11_25")),
    ("2026-07-28", Revision("V2026_07_28")),
];

impl EndpointAttribute {
    /// Reads the keys of an attribute that stands at `span`.
    pub fn read(span: Span, tokens: TokenStream, errors: &mut Diagnostics) -> Self {
        let mut keys = Keys::parse("`#[mcp_endpoint]`", span, tokens, errors);
        let attribute = Self {
            path: keys.required("path"),
            name: keys.required("name"),
            version: keys.required("version"),
            title: keys.string("title"),
            description: keys.string("description"),
            website_url: keys.string("website_url"),
            instructions: keys.string("instructions"),
            icons: Icon::list(&mut keys),
            revisions: revisions(&mut keys),
            cache: Cache::read(&mut keys),
            extra_arguments: ExtraArguments::read(&mut keys),
            changes: changes(&mut keys),
            subscribable: keys.path("subscribable", "may_be_heard"),
            runtime: keys.path("crate", "path::to::mcp_runtime"),
        };
        keys.finish();
        attribute
    }
}

/// What the attribute says on an `impl` block.
pub struct ImplAttribute {
    pub runtime: Option<Path>,
}

impl ImplAttribute {
    /// Reads the keys of an attribute that stands at `span`.
    pub fn read(span: Span, tokens: TokenStream, errors: &mut Diagnostics) -> Self {
        let mut keys = Keys::parse("`#[mcp_endpoint]` on an `impl` block", span, tokens, errors);
        let attribute = Self { runtime: keys.path("crate", "path::to::mcp_runtime") };
        keys.finish();
        attribute
    }
}

fn changes(keys: &mut Keys<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for word in keys.words("changes", "tools, updates").unwrap_or_default() {
        let known = CHANGES.iter().map(|(name, _)| *name);
        match CHANGES.iter().find(|(name, _)| word == name) {
            Some((_, change)) => changes.push(*change),
            None => {
                keys.errors.error(&word, not_one_of("changes", &word.to_string(), known, str::to_owned));
            }
        }
    }
    changes
}

fn revisions(keys: &mut Keys<'_>) -> Vec<Revision> {
    let mut revisions = Vec::new();
    for text in keys.strings("revisions").unwrap_or_default() {
        match REVISIONS.iter().find(|(name, _)| *name == text.value()) {
            Some((_, revision)) => revisions.push(*revision),
            None => {
                let known = REVISIONS.iter().map(|(name, _)| *name);
                let message = not_one_of("revisions", &text.value(), known, |name| format!("{name:?}"));
                keys.errors.error(text, message);
            }
        }
    }
    revisions
}
