//! An `impl` block whose annotated methods are an endpoint's operations.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{FnArg, ImplItem, ImplItemFn, ItemImpl, Path, Type, spanned::Spanned};

use super::{one_operation, own_parameters};
use crate::{
    attribute::{self, ImplAttribute, OperationAttribute, OperationKind},
    diagnostics::Diagnostics,
    expand::{self, Runtime},
    operation::Operation,
    signature::{Annotations, Handler},
    validate,
};

/// An annotated method, off which the annotations were taken.
struct Method {
    at: usize,
    kind: OperationKind,
    attribute: syn::Attribute,
    annotations: Vec<Annotations>,
    errors: Diagnostics,
}

/// Expands `#[mcp_endpoint]` on an `impl` block.
pub fn endpoint(span: Span, keys: TokenStream, mut block: ItemImpl) -> TokenStream {
    let mut errors = Diagnostics::default();
    let runtime = Runtime::new(ImplAttribute::read(span, keys, &mut errors).runtime.as_ref());
    let methods = take_methods(&mut block, &mut errors);
    let expansion = match plain_type(&block, &mut errors) {
        Some(this) if methods.is_empty() => expand::mention(this, &runtime),
        Some(this) => expand_methods(methods, &block, this, &runtime),
        None => TokenStream::new(),
    };
    let errors = errors.into_compile_errors();
    quote!(#block #errors #expansion)
}

fn take_methods(block: &mut ItemImpl, errors: &mut Diagnostics) -> Vec<Method> {
    let mut methods = Vec::new();
    for (at, item) in block.items.iter_mut().enumerate() {
        let ImplItem::Fn(method) = item else { continue };
        match method.attrs.iter().position(|attribute| OperationKind::of(attribute).is_some()) {
            Some(first) => methods.extend(Method::take(at, first, method)),
            None => stray_keys(method, errors),
        }
    }
    methods
}

impl Method {
    fn take(at: usize, first: usize, method: &mut ImplItemFn) -> Option<Self> {
        let mut errors = Diagnostics::default();
        let attribute = method.attrs.remove(first);
        let kind = OperationKind::of(&attribute)?;
        one_operation(kind, &mut method.attrs, &mut errors);
        own_parameters(&method.sig, &mut method.attrs);
        Some(Self { at, kind, attribute, annotations: Annotations::strip(&mut method.sig), errors })
    }
}

/// `#[mcp(…)]` on a parameter of a method that is no operation.
fn stray_keys(method: &mut ImplItemFn, errors: &mut Diagnostics) {
    for input in &mut method.sig.inputs {
        let FnArg::Typed(parameter) = input else { continue };
        parameter.attrs.retain(|attribute| {
            let stray = attribute.path().is_ident("mcp");
            if stray {
                let message = "`#[mcp]` is for parameters of operations: put `#[mcp_tool]` on this method";
                errors.error(attribute.path(), message);
            }
            !stray
        });
    }
}

fn expand_methods(methods: Vec<Method>, block: &ItemImpl, this: &Path, runtime: &Runtime) -> TokenStream {
    let mut operations: Vec<(Operation<'_>, Diagnostics)> = Vec::new();
    for Method { at, kind, attribute, annotations, mut errors } in methods {
        let ImplItem::Fn(ImplItemFn { attrs, sig, block, .. }) = &block.items[at] else {
            continue;
        };
        let span = attribute.path().span();
        let keys = attribute::arguments(&attribute, &mut errors);
        let operation = Operation {
            kind,
            attribute: OperationAttribute::read(kind, span, keys, &mut errors),
            span,
            handler: Handler::read(kind, attrs, sig, block, &annotations, Some(this), &mut errors),
            this: Some(this),
            runtime: runtime.clone(),
        };
        operations.push((operation, errors));
    }
    validate::repeated(&mut operations);
    operations.into_iter().map(|(operation, errors)| operation.expand(errors)).collect()
}

/// The type of a plain `impl Type`, which can be named outside the block.
fn plain_type<'a>(block: &'a ItemImpl, errors: &mut Diagnostics) -> Option<&'a Path> {
    let generics = &block.generics;
    if let Some((of, _)) = &block.trait_ {
        errors.error(
            of,
            "operations stand in the type's own `impl` block, not in that of a trait: move them there",
        );
    } else if !generics.params.is_empty() || generics.where_clause.is_some() {
        errors.error(generics, "an endpoint is one type: remove the generic parameters of the `impl` block");
    } else {
        match &*block.self_ty {
            Type::Path(ty)
                if ty.qself.is_none() && ty.path.segments.iter().all(|part| part.arguments.is_none()) =>
            {
                return Some(&ty.path);
            }
            other => {
                errors.error(other, "an endpoint is one struct: write its name alone, such as `impl Catalog`")
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use crate::{
        item,
        testing::{errors, text},
    };

    #[test]
    fn methods_are_registered_behind_the_block() {
        let block = quote! {
            impl shop::Catalog {
                const LIMIT: u32 = 7;

                /// Searches.
                #[mcp_runtime::mcp_tool(read_only)]
                #[must_use]
                pub async fn search(&self, #[mcp(default = Self::LIMIT)] limit: u32) -> Result<Json<Self>, ToolError> {
                    self.stock(limit)
                }

                #[mcp_prompt]
                fn greet(name: String) -> String {
                    name
                }

                fn stock(&self, #[allow(unused)] limit: u32) {}
            }
        };
        let expansion = text(item::endpoint(quote!(), &block));
        let kept = "implshop::Catalog{constLIMIT:u32=7;#[doc=r\"Searches.\"]#[must_use]pubasyncfnsearch(&self,limit:u32)";
        assert!(expansion.starts_with(kept), "{expansion}");
        for part in [
            "const_:()={",
            "fn__default0()->u32{shop::Catalog::LIMIT}",
            "tool_return::<Result<Json<shop::Catalog>,ToolError>>()",
            "instance::<shop::Catalog>(instance)",
            "letoutput=<shop::Catalog>::search(&this,p0).await;",
            "move||<shop::Catalog>::greet(p0)",
            "takes_instance:true",
            "takes_instance:false",
            "EndpointRef::Type(::mcp_runtime::__private::endpoint_id::<shop::Catalog>())",
        ] {
            assert!(expansion.contains(part), "no `{part}` in {expansion}");
        }
        assert!(!expansion.contains("mcp_tool") && !expansion.contains("mcp_prompt"), "{expansion}");
    }

    #[test]
    fn operations_under_conditions_may_share_a_name() {
        let block = quote! {
            impl Catalog {
                #[cfg(unix)]
                #[mcp_tool(name = "where")]
                async fn on_unix() -> String {}
                #[cfg(not(unix))]
                #[mcp_tool(name = "where")]
                async fn elsewhere() -> String {}
            }
        };
        text(item::endpoint(quote!(), &block));
    }

    #[test]
    fn a_block_without_operations_is_checked_all_the_same() {
        let expansion = text(item::endpoint(quote!(crate = my::mcp), &quote!(impl Catalog {})));
        assert!(expansion.contains("my::mcp::__private::endpoint_id::<Catalog>()"), "{expansion}");
    }

    #[test]
    fn blocks_that_are_no_endpoint() {
        let refused = |block: proc_macro2::TokenStream, part: &str| {
            let found = errors(item::endpoint(quote!(), &block));
            assert!(found.len() == 1 && found[0].contains(part), "{block}: {found:?}");
        };
        refused(quote!(impl Search for Catalog {}), "move them there");
        refused(
            quote!(
                impl<T> Catalog<T> {}
            ),
            "generic parameters",
        );
        refused(quote!(impl Catalog<u8> {}), "name alone");
        refused(
            quote!(
                impl (u8, u8) {}
            ),
            "name alone",
        );
        refused(
            quote!(
                impl <Catalog as Of>::Type {}
            ),
            "name alone",
        );
    }

    #[test]
    fn healthy_methods_are_registered_beside_faulty_ones() {
        let block = quote! {
            impl Catalog {
                #[mcp_tool(timeout = "soon")]
                async fn one(&self) -> String {}
                #[mcp_tool]
                async fn two(&self) -> String {}
                #[mcp_tool = "three"]
                async fn three(&self) -> String {}
            }
        };
        let expansion = item::endpoint(quote!(), &block);
        assert_eq!(expansion.to_string().matches("submit").count(), 1);
        assert_eq!(errors(expansion).len(), 2);
    }
}
