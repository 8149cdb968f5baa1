//! Which parameters a handler can have, as far as syntax decides.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{
    ParenthesizedGenericArguments, Type, TypeFnPtr, TypeImplTrait, TypeReference,
    visit::{self, Visit},
};

use super::names;
use crate::{attribute::Source, diagnostics::Diagnostics, operation::Operation, signature::Parameter};

pub fn check(operation: &Operation<'_>, errors: &mut Diagnostics) {
    let parameters = &operation.handler.parameters;
    for (at, parameter) in parameters.iter().enumerate() {
        if let Some(condition) = &parameter.condition {
            errors.error(condition, "a parameter is always there: put the `#[cfg]` on the function");
        }
        if let Some((tokens, message)) = unusable(&parameter.ty) {
            errors.error(tokens, message);
        }
        source(parameter, errors);
        header(parameter, &parameters[..at], errors);
        name(parameter, &parameters[..at], errors);
    }
}

/// Why no parameter can have this type, and the tokens to blame.
pub fn unusable(ty: &Type) -> Option<(TokenStream, String)> {
    match ty {
        Type::Reference(reference) => Some((ty.to_token_stream(), owned(reference))),
        _ => {
            let mut shape = Shape(None);
            shape.visit_type(ty);
            shape.0
        }
    }
}

/// Finds what can't stand within a parameter's type. `&'static` can: `State<&'static Config>` is fine.
struct Shape(Option<(TokenStream, String)>);

impl Visit<'_> for Shape {
    fn visit_type_impl_trait(&mut self, ty: &TypeImplTrait) {
        let message = "an `impl Trait` hides what to read: write the parameter's type";
        self.0.get_or_insert_with(|| (ty.to_token_stream(), message.to_owned()));
    }

    fn visit_type_reference(&mut self, ty: &TypeReference) {
        if ty.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static") {
            return visit::visit_type_reference(self, ty);
        }
        self.0.get_or_insert_with(|| (ty.to_token_stream(), owned(ty)));
    }

    // What a function borrows is its own matter: `State<Arc<dyn Fn(&str) -> bool>>`.
    fn visit_type_fn_ptr(&mut self, _: &TypeFnPtr) {}

    fn visit_parenthesized_generic_arguments(&mut self, _: &ParenthesizedGenericArguments) {}
}

/// What to take instead of a reference.
fn owned(reference: &TypeReference) -> String {
    let named = |name: &str| match &*reference.elem {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == name),
        _ => false,
    };
    if named("ProgressReporter") {
        return "progress is not available on every invocation: take `Option<ProgressReporter>`".to_owned();
    }
    let instead = match &*reference.elem {
        Type::Slice(slice) => format!("Vec<{}>", shown(&slice.elem)),
        _ if named("str") => "String".to_owned(),
        _ if named("Path") => "PathBuf".to_owned(),
        other => shown(other),
    };
    format!("a handler owns its parameters: take `{instead}`")
}

/// A type as people write it.
fn shown(ty: &Type) -> String {
    let text = ty.to_token_stream().to_string();
    [(" :: ", "::"), (" < ", "<"), (" <", "<"), (" > ", ">"), (" >", ">"), (" ,", ","), ("& ", "&")]
        .iter()
        .fold(text, |text, (spaced, plain)| text.replace(spaced, plain))
}

fn source(parameter: &Parameter, errors: &mut Diagnostics) {
    if let Some(Source::Inject) = parameter.attribute.source
        && let Some((key, span)) = parameter.argument_key()
    {
        errors.error_at(span, format!("an injected value is no argument: remove `{key}`"));
    }
}

fn header(parameter: &Parameter, earlier: &[Parameter], errors: &mut Diagnostics) {
    let Some(header) = &parameter.attribute.header else {
        return;
    };
    if let Err(problem) = names::header(&header.value()) {
        return errors.error(header, problem);
    }
    let same = |other: &Parameter| {
        other
            .attribute
            .header
            .as_ref()
            .is_some_and(|other| other.value().eq_ignore_ascii_case(&header.value()))
    };
    if earlier.iter().any(same) {
        let message = format!(
            "the header `{}` is taken by an earlier parameter: rename one (case does not matter)",
            header.value()
        );
        errors.error(header, message);
    }
}

/// Two bindings of one name are the compiler's own error; here it is about names on the wire.
fn name(parameter: &Parameter, earlier: &[Parameter], errors: &mut Diagnostics) {
    let Some(name) = parameter.name() else { return };
    let renamed =
        |other: &Parameter| other.attribute.rename.is_some() || parameter.attribute.rename.is_some();
    if earlier.iter().any(|other| other.name().as_ref() == Some(&name) && renamed(other)) {
        let message = format!("`{name}` is already the name of an earlier parameter: rename one");
        errors.error(parameter.name_tokens(), message);
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use crate::testing::tool_errors;

    fn refused(parameters: &TokenStream, expected: &[&str]) {
        let found = tool_errors(quote!(), &quote!(async fn f(#parameters) {}));
        let all = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| f.contains(e));
        assert!(all, "{parameters}: {found:#?}");
    }

    #[test]
    fn references_are_refused_with_what_to_take() {
        refused(&quote!(a: &str), &["take `String`"]);
        refused(&quote!(a: &'static str), &["take `String`"]);
        refused(&quote!(a: Option<&str>), &["take `String`"]);
        refused(&quote!(a: &[Option<u8>]), &["take `Vec<Option<u8>>`"]);
        refused(&quote!(a: &mut std::vec::Vec<u8>), &["take `std::vec::Vec<u8>`"]);
        refused(&quote!(a: &Path), &["take `PathBuf`"]);
        refused(&quote!(a: &ProgressReporter), &["take `Option<ProgressReporter>`"]);
        refused(&quote!(a: &mcp_runtime::ProgressReporter), &["take `Option<ProgressReporter>`"]);
        refused(&quote!(a: State<&'static Config>, b: Cow<'_, str>), &[]);
        refused(&quote!(a: State<Arc<dyn Fn(&str) -> bool>>, b: State<fn(&str) -> bool>), &[]);
    }

    #[test]
    fn hidden_types_are_refused() {
        refused(&quote!(a: impl Display), &["write the parameter's type"]);
        refused(&quote!(a: Vec<impl Display>, b: &str), &["write the parameter's type", "take `String`"]);
    }

    #[test]
    fn conditions_are_refused() {
        refused(&quote!(#[cfg(unix)] a: u8), &["put the `#[cfg]` on the function"]);
    }

    #[test]
    fn names_are_unique() {
        refused(&quote!(#[mcp(rename = "b")] a: u8, b: u8), &["`b` is already the name"]);
        refused(
            &quote!(#[mcp(rename = "x")] a: u8, #[mcp(rename = "x")] b: u8),
            &["`x` is already the name"],
        );
        refused(&quote!(#[mcp(rename = "b")] a: u8, #[mcp(rename = "a")] b: u8), &[]);
    }

    #[test]
    fn headers_are_tokens_and_unique() {
        refused(&quote!(#[mcp(header = "Re gion")] a: u8), &["can't end the header name"]);
        refused(
            &quote!(#[mcp(header = "Region")] a: u8, #[mcp(header = "REGION")] b: u8),
            &["case does not matter"],
        );
        refused(&quote!(#[mcp(header = "Region")] a: u8, #[mcp(header = "Tenant")] b: u8), &[]);
    }

    #[test]
    fn injected_values_have_no_argument_keys() {
        refused(&quote!(#[mcp(inject, default)] a: u8), &["remove `default`"]);
        refused(&quote!(#[mcp(inject, argument)] a: u8), &["keep `inject` or `argument`"]);
        refused(&quote!(#[mcp(inject = true)] a: u8), &["write `#[mcp(inject)]`"]);
        refused(&quote!(#[mcp(inject)] State(a): State<u8>), &[]);
    }
}
