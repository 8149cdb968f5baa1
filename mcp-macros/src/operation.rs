//! One operation: an attribute and the function it stands on.

use proc_macro2::{Span, TokenStream};
use syn::Path;

use crate::{
    attribute::{OperationAttribute, OperationKind},
    diagnostics::Diagnostics,
    expand::{self, Runtime},
    signature::Handler,
    validate,
};

/// A function that carries an attribute, which may be faulty.
pub struct Operation<'a> {
    pub kind: OperationKind,
    pub attribute: Option<OperationAttribute>,
    /// Where the attribute stands.
    pub span: Span,
    pub handler: Handler<'a>,
    /// The type whose `impl` a method stands in; `None` for a free function.
    pub this: Option<&'a Path>,
    pub runtime: Runtime,
}

impl Operation<'_> {
    /// What stands behind the function: its registration, or what is wrong with it. Even then the types of what is
    /// right are checked, so that all errors come at once.
    pub fn expand(&self, mut errors: Diagnostics) -> TokenStream {
        validate::operation(self, &mut errors);
        match &self.attribute {
            Some(attribute) if errors.is_empty() => expand::operation(self, attribute),
            _ => {
                let checks = expand::checks(self);
                let errors = errors.into_compile_errors();
                quote::quote!(#errors #checks)
            }
        }
    }
}
