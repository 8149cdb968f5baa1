//! What an endpoint may say of itself, and which operations can't stand side by side in one `impl` block.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;

use super::{check_icons, check_text, names, uri};
use crate::{
    attribute::{CompletionKeys, EndpointAttribute, OperationKeys, OperationKind, ResourceKeys, Target},
    diagnostics::Diagnostics,
    operation::Operation,
};

/// Checks the attribute on a struct.
pub fn endpoint(attribute: &EndpointAttribute, errors: &mut Diagnostics) {
    check_text(attribute.path.as_ref(), uri::path, errors);
    check_text(attribute.name.as_ref(), names::text, errors);
    check_text(attribute.version.as_ref(), names::text, errors);
    check_text(attribute.website_url.as_ref(), names::web_url, errors);
    check_icons(&attribute.icons, errors);
}

/// What an `impl` block, and in the end an endpoint, can have only once.
struct Identity {
    kind: OperationKind,
    /// Equal for operations that can't stand side by side.
    key: String,
    /// As people call it.
    shown: String,
    /// Where the operation says so.
    place: TokenStream,
}

/// Reports the operations of an `impl` block that repeat an earlier one, each with its own errors.
///
/// Those under a `#[cfg]` may exclude each other: they are left to the registry.
pub fn repeated(operations: &mut [(Operation<'_>, Diagnostics)]) {
    let mut seen: Vec<(OperationKind, String)> = Vec::new();
    for (operation, errors) in
        operations.iter_mut().filter(|(operation, _)| operation.handler.conditions.is_empty())
    {
        let Some(Identity { kind, key, shown, place }) = Identity::of(operation) else {
            continue;
        };
        if seen.contains(&(kind, key.clone())) {
            let remedy = match kind {
                OperationKind::Tool | OperationKind::Prompt => "rename one",
                OperationKind::Resource => "change the `uri` of one",
                OperationKind::ResourceList | OperationKind::Completion => "keep one",
            };
            errors.error(place, format!("this `impl` block already has the {shown}: {remedy}"));
        } else {
            seen.push((kind, key));
        }
    }
}

impl Identity {
    fn of(operation: &Operation<'_>) -> Option<Self> {
        let attribute = operation.attribute.as_ref()?;
        let (kind, function) = (operation.kind, &operation.handler.signature.ident);
        let (key, shown, place) = match &attribute.keys {
            OperationKeys::Tool(_) | OperationKeys::Prompt => {
                let name = match &attribute.name {
                    Some(name) => (name.value(), name.to_token_stream()),
                    None => (function.unraw().to_string(), function.to_token_stream()),
                };
                (name.0.clone(), format!("{kind} `{}`", name.0), name.1)
            }
            OperationKeys::Resource(ResourceKeys { uri, .. }) => {
                let text = uri.value();
                (uri::normalized(&text), format!("resource `{text}`"), uri.to_token_stream())
            }
            OperationKeys::ResourceList => (String::new(), kind.to_string(), function.to_token_stream()),
            OperationKeys::Completion(CompletionKeys { target, argument }) => {
                let (Target::Prompt(target) | Target::Resource(target)) = target;
                let (target, name) = (target.value(), argument.value());
                let shown = format!("completion of `{name}` in `{target}`");
                (format!("{target} {name}"), shown, argument.to_token_stream())
            }
        };
        Some(Self { kind, key, shown, place })
    }
}
