//! Which functions can answer requests.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{
    Expr, ExprAsync, ExprClosure, ExprMethodCall, ExprPath, Item, Lifetime, ReceiverKind, Safety,
    TypeImplTrait, TypeNever, TypeReference,
    visit::{self, Visit},
};

use crate::{attribute::OperationKind, diagnostics::Diagnostics, operation::Operation};

pub fn check(operation: &Operation<'_>, errors: &mut Diagnostics) {
    modifiers(operation, errors);
    receiver(operation, errors);
    for (tokens, message) in unusable_output(operation) {
        errors.error(tokens, message);
    }
    if operation.handler.signature.asyncness.is_some() {
        Blocking(errors).visit_block(operation.handler.body);
    }
}

fn modifiers(operation: &Operation<'_>, errors: &mut Diagnostics) {
    let signature = operation.handler.signature;
    if let Some(constness) = &signature.constness {
        errors.error(constness, "a handler runs when it is called, not while compiling: remove `const`");
    }
    if let Safety::Unsafe(safety) = &signature.safety {
        errors.error(
            safety,
            "a handler is called without conditions: remove `unsafe`, and write an `unsafe` block inside",
        );
    }
    if let Some(abi) = &signature.abi {
        errors.error(abi, "a handler is a Rust function: remove `extern`");
    }
    if let Some(variadic) = &signature.variadic {
        errors.error(variadic.dots, "a handler has a fixed list of parameters: remove `...`");
    }
    if !signature.generics.params.is_empty() {
        let message =
            "a handler is not generic: write its types out, and take owned values instead of borrowed ones";
        errors.error(&signature.generics.params, message);
    }
    if let Some(clause) = &signature.generics.where_clause {
        errors.error(clause, "a handler is not generic: remove the `where` clause");
    }
}

fn receiver(operation: &Operation<'_>, errors: &mut Diagnostics) {
    let Some(receiver) = operation.handler.receiver() else {
        return;
    };
    if operation.this.is_none() {
        let method = &operation.handler.signature.ident;
        let message = format!("`{method}` is a method: put `#[mcp_endpoint]` on its `impl` block");
        return errors.error(receiver, message);
    }
    let message = match &receiver.kind {
        ReceiverKind::Reference(_, None, None) => return,
        ReceiverKind::Reference(_, _, Some(_)) => {
            "calls share the endpoint and run at the same time: take `&self`, and keep what changes in a `Mutex` or an atomic"
        }
        ReceiverKind::Value => "calls share the endpoint: take `&self`",
        _ => "calls share the endpoint: write `&self`",
    };
    errors.error(receiver, message);
}

/// What is wrong with a return type, and the tokens to blame.
pub fn unusable_output(operation: &Operation<'_>) -> Vec<(TokenStream, String)> {
    let example = match operation.kind {
        OperationKind::Tool => "Result<String, ToolError>",
        OperationKind::Resource => "Result<Text, ResourceError>",
        OperationKind::ResourceList => "Result<ResourcePage, ResourceError>",
        OperationKind::Prompt => "Result<Vec<PromptMessage>, PromptError>",
        OperationKind::Completion => "Result<Vec<String>, CompletionError>",
    };
    let mut shape = OutputShape { example, faults: Vec::new() };
    shape.visit_type(&operation.handler.output);
    shape.faults
}

/// Finds what a return type can't contain, because the value outlives the call and its type is inspected.
struct OutputShape {
    example: &'static str,
    faults: Vec<(TokenStream, String)>,
}

impl OutputShape {
    fn fault(&mut self, tokens: impl ToTokens, message: &str) {
        self.faults.push((tokens.to_token_stream(), message.to_owned()));
    }
}

impl Visit<'_> for OutputShape {
    fn visit_type_never(&mut self, ty: &TypeNever) {
        self.fault(ty, &format!("a handler returns an answer: write its type, such as `{}`", self.example));
    }

    fn visit_type_impl_trait(&mut self, ty: &TypeImplTrait) {
        self.fault(
            ty,
            &format!("an `impl Trait` hides what is returned: write the type, such as `{}`", self.example),
        );
    }

    fn visit_type_reference(&mut self, ty: &TypeReference) {
        match &ty.lifetime {
            None => self.fault(ty, "a result outlives the call: return an owned value, such as `String`"),
            Some(_) => visit::visit_type_reference(self, ty),
        }
    }

    fn visit_lifetime(&mut self, lifetime: &Lifetime) {
        if lifetime.ident != "static" {
            self.fault(lifetime, "a result outlives the call: return an owned value, or write `'static`");
        }
    }
}

/// Finds calls of `report_blocking` in asynchronous code. Closures are left alone: they may run anywhere.
struct Blocking<'a>(&'a mut Diagnostics);

impl Blocking<'_> {
    fn found(&mut self, ident: &syn::Ident) {
        if ident == "report_blocking" {
            let message =
                "`report_blocking` blocks the runtime's thread: in an `async fn` write `.report(…).await`";
            self.0.error(ident, message);
        }
    }
}

impl Visit<'_> for Blocking<'_> {
    fn visit_expr_method_call(&mut self, call: &ExprMethodCall) {
        self.found(&call.method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &ExprPath) {
        if let Some(last) = path.path.segments.last() {
            self.found(&last.ident);
        }
    }

    fn visit_expr_closure(&mut self, closure: &ExprClosure) {
        if closure.asyncness.is_some() || matches!(*closure.body, Expr::Async(ExprAsync { .. })) {
            visit::visit_expr_closure(self, closure);
        }
    }

    fn visit_item(&mut self, _: &Item) {}
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use crate::testing::tool_errors;

    fn refused(function: &TokenStream, expected: &[&str]) {
        let found = tool_errors(quote!(), function);
        let all = found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| f.contains(e));
        assert!(all, "{function}: {found:#?}");
    }

    #[test]
    fn plain_functions_are_handlers() {
        refused(
            &quote!(
                async fn f() {}
            ),
            &[],
        );
        refused(
            &quote!(
                pub(crate) fn f(a: u32, b: Option<String>) -> Result<String, ToolError> {}
            ),
            &[],
        );
        refused(
            &quote!(
                fn f() -> &'static str {}
            ),
            &[],
        );
        refused(
            &quote!(
                fn f() -> Result<Vec<&'static str>, ToolError> {}
            ),
            &[],
        );
    }

    #[test]
    fn every_modifier_is_reported() {
        refused(
            &quote!(
                const fn f() {}
            ),
            &["remove `const`"],
        );
        refused(
            &quote!(
                unsafe extern "C" fn f() {}
            ),
            &["remove `unsafe`", "remove `extern`"],
        );
        refused(
            &quote!(
                unsafe extern "C" fn f(a: u32, ...) {}
            ),
            &["`unsafe`", "`extern`", "remove `...`"],
        );
        refused(
            &quote!(
                fn f<T, const N: usize>() {}
            ),
            &["not generic"],
        );
        refused(
            &quote!(
                fn f<'a>() {}
            ),
            &["not generic"],
        );
        refused(
            &quote!(
                fn f()
                where
                    String: Sized,
                {
                }
            ),
            &["remove the `where` clause"],
        );
    }

    #[test]
    fn methods_need_an_endpoint() {
        refused(
            &quote!(
                fn f(&self) {}
            ),
            &["put `#[mcp_endpoint]` on its `impl` block"],
        );
        refused(
            &quote!(
                fn f(self: Arc<Self>) {}
            ),
            &["put `#[mcp_endpoint]` on its `impl` block"],
        );
    }

    #[test]
    fn results_are_owned_and_named() {
        refused(
            &quote!(
                fn f() -> impl ToolOutput {}
            ),
            &["write the type"],
        );
        refused(
            &quote!(
                fn f() -> Result<impl Display, ToolError> {}
            ),
            &["write the type"],
        );
        refused(
            &quote!(
                fn f() -> &str {}
            ),
            &["owned value, such as `String`"],
        );
        refused(
            &quote!(
                fn f() -> Option<&str> {}
            ),
            &["owned value, such as `String`"],
        );
        refused(
            &quote!(
                fn f() -> Cow<'_, str> {}
            ),
            &["write `'static`"],
        );
        refused(
            &quote!(
                fn f() -> ! {}
            ),
            &["write its type"],
        );
    }

    #[test]
    fn blocking_reports_are_seen_in_async_code() {
        refused(
            &quote!(
                async fn f() {
                    progress.report_blocking(1);
                }
            ),
            &[".report(…).await"],
        );
        refused(
            &quote!(
                async fn f() {
                    if a {
                        OptionalProgress::report_blocking(&p, 1)?;
                    }
                }
            ),
            &["blocks"],
        );
        refused(
            &quote!(
                async fn f() {
                    async { p.report_blocking(1) }.await;
                }
            ),
            &["blocks"],
        );
        refused(
            &quote!(
                async fn f() {
                    let c = async || p.report_blocking(1);
                }
            ),
            &["blocks"],
        );
        refused(
            &quote!(
                async fn f() {
                    spawn_blocking(move || p.report_blocking(1)).await;
                }
            ),
            &[],
        );
        refused(
            &quote!(
                async fn f() {
                    fn g(p: P) {
                        p.report_blocking(1);
                    }
                }
            ),
            &[],
        );
        refused(
            &quote!(
                fn f() {
                    p.report_blocking(1);
                }
            ),
            &[],
        );
    }
}
