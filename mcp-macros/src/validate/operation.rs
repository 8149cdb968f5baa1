//! What the attributes of operations may say.

use syn::{LitStr, ext::IdentExt};

use super::{check_icons, check_text, names, uri};
use crate::{
    attribute::{CompletionKeys, OperationAttribute, OperationKeys, ResourceKeys, Source, Target},
    diagnostics::{Diagnostics, listed, nearest},
    operation::Operation,
    signature::Parameter,
};

pub fn check(attribute: &OperationAttribute, operation: &Operation<'_>, errors: &mut Diagnostics) {
    if operation.this.is_some() {
        if let Some(endpoint) = &attribute.endpoint {
            errors.error(endpoint, "a method belongs to the endpoint of its `impl` block: remove `endpoint`");
        }
        if let Some(runtime) = &attribute.runtime {
            errors.error(
                runtime,
                "methods use what the `impl` block names: write `#[mcp_endpoint(crate = …)]` there",
            );
        }
    }
    if let Some((0, text)) = &attribute.timeout {
        errors.error(text, "a `timeout` of zero leaves no time: write a longer one, such as `30s`");
    }
    check_icons(&attribute.icons, errors);
    match &attribute.keys {
        OperationKeys::Tool(_) | OperationKeys::Prompt => name(attribute, operation, errors),
        OperationKeys::Resource(keys) => {
            check_text(attribute.name.as_ref(), names::text, errors);
            check_text(keys.mime_type.as_ref(), names::mime_type, errors);
            address(keys, operation, errors);
        }
        OperationKeys::ResourceList => {}
        OperationKeys::Completion(keys) => completion(keys, errors),
    }
}

fn name(attribute: &OperationAttribute, operation: &Operation<'_>, errors: &mut Diagnostics) {
    let function = &operation.handler.signature.ident;
    match &attribute.name {
        Some(name) => check_text(Some(name), names::operation, errors),
        None => {
            if let Err(problem) = names::operation(&function.unraw().to_string()) {
                errors.error(function, problem);
            }
        }
    }
}

/// A resource's address, whose variables and parameters are one-to-one.
fn address(keys: &ResourceKeys, operation: &Operation<'_>, errors: &mut Diagnostics) {
    let uri = keys.uri.value();
    let variables = match uri::variables(&uri) {
        Ok(variables) => variables,
        Err(problem) => return errors.error(&keys.uri, problem),
    };
    if let Some((_, size)) = &keys.size
        && !variables.is_empty()
    {
        errors.error(size, "a template stands for many resources: remove `size`, or write an exact `uri`");
    }
    let parameters = &operation.handler.parameters;
    let names: Vec<String> =
        parameters.iter().filter(|parameter| !is_injected(parameter)).filter_map(Parameter::name).collect();
    for variable in &variables {
        if !names.iter().any(|name| name == variable) {
            errors.error(&keys.uri, format!("`{{{variable}}}` has no parameter: add `{variable}: String`"));
        }
    }
    for rename in parameters.iter().filter_map(|parameter| parameter.attribute.rename.as_ref()) {
        if !variables.contains(&rename.value().as_str()) {
            errors.error(rename, no_variable(&rename.value(), &variables));
        }
    }
}

fn is_injected(parameter: &Parameter) -> bool {
    parameter.attribute.source == Some(Source::Inject)
}

fn completion(keys: &CompletionKeys, errors: &mut Diagnostics) {
    match &keys.target {
        Target::Prompt(prompt) => check_text(Some(prompt), names::operation, errors),
        Target::Resource(template) => completed_variable(template, &keys.argument, errors),
    }
}

fn completed_variable(template: &LitStr, argument: &LitStr, errors: &mut Diagnostics) {
    let uri = template.value();
    match uri::variables(&uri) {
        Ok(variables) if variables.is_empty() => {
            let message = "an exact URI has nothing to complete: write the template of a resource, such as `catalog://parts/{id}`";
            errors.error(template, message);
        }
        Ok(variables) if variables.contains(&argument.value().as_str()) => {}
        Ok(variables) => errors.error(argument, no_variable(&argument.value(), &variables)),
        Err(problem) => errors.error(template, problem),
    }
}

fn no_variable(name: &str, variables: &[&str]) -> String {
    match nearest(name, variables.iter().copied()) {
        Some(meant) => format!("the template has no variable `{name}`: did you mean `{meant}`?"),
        None if variables.is_empty() => {
            format!("the URI has no variables: remove `{name}`, or write it into the URI as `{{{name}}}`")
        }
        None => format!("the template has no variable `{name}`: it has {}", listed(variables, "and")),
    }
}
