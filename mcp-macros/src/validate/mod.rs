//! Every rule that syntax can decide, as checks over what was parsed. Types are left to the compiler.

mod endpoint;
mod handler;
mod names;
mod operation;
mod parameter;
mod uri;

use syn::LitStr;

pub use self::{
    endpoint::{endpoint, repeated},
    handler::unusable_output,
    parameter::unusable as unusable_parameter,
};
use crate::{attribute::Icon, diagnostics::Diagnostics, operation::Operation};

/// Checks an operation as a whole.
pub fn operation(operation: &Operation<'_>, errors: &mut Diagnostics) {
    handler::check(operation, errors);
    parameter::check(operation, errors);
    if let Some(attribute) = &operation.attribute {
        operation::check(attribute, operation, errors);
    }
}

/// The variables of a URI, if it is valid.
pub fn variables(uri: &str) -> Option<Vec<String>> {
    uri::variables(uri).ok().map(|names| names.into_iter().map(str::to_owned).collect())
}

/// Checks a literal by a rule, and reports at it.
fn check_text(text: Option<&LitStr>, rule: impl Fn(&str) -> Result<(), String>, errors: &mut Diagnostics) {
    if let Some(text) = text
        && let Err(problem) = rule(&text.value())
    {
        errors.error(text, problem);
    }
}

fn check_icons(icons: &[Icon], errors: &mut Diagnostics) {
    for icon in icons {
        check_text(Some(&icon.src), names::icon_source, errors);
        check_text(icon.mime_type.as_ref(), names::mime_type, errors);
        for size in &icon.sizes {
            check_text(Some(size), names::icon_size, errors);
        }
    }
}
