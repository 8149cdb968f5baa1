//! The struct that a person fills in.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Attribute, Fields, Generics, Ident, Item, ItemEnum, ItemStruct, ItemUnion, ext::IdentExt};

use crate::{
    attribute::{Keys, arguments},
    diagnostics::Diagnostics,
    expand::Runtime,
};

/// Expands `#[derive(ElicitationForm)]`. A faulty form is one all the same, so that who asks for it has no second error.
pub fn form(item: TokenStream) -> TokenStream {
    let mut errors = Diagnostics::default();
    let item = match syn::parse2(item) {
        Ok(Item::Struct(ItemStruct { attrs, ident, generics, fields, .. })) => {
            fields_of_form(&ident, &fields, &mut errors);
            Derived { attrs, ident, generics }
        }
        Ok(Item::Enum(ItemEnum { attrs, ident, generics, enum_token, .. })) => {
            errors.error(enum_token, format!("{FORM}: make this enum the type of a field"));
            Derived { attrs, ident, generics }
        }
        Ok(Item::Union(ItemUnion { attrs, ident, generics, union_token, .. })) => {
            errors.error(union_token, FORM);
            Derived { attrs, ident, generics }
        }
        // The compiler derives for nothing else.
        Ok(other) => return syn::Error::new_spanned(other, FORM).into_compile_error(),
        Err(error) => return error.into_compile_error(),
    };
    item.expand(errors)
}

const FORM: &str = "a form is a struct with named fields";

fn fields_of_form(ident: &Ident, fields: &Fields, errors: &mut Diagnostics) {
    match fields {
        Fields::Named(fields) if !fields.named.is_empty() => {}
        Fields::Unit | Fields::Named(_) => errors.error(ident, format!("{FORM}: add one")),
        Fields::Unnamed(fields) => errors.error(fields, format!("{FORM}: name them")),
    }
}

/// What of an item its form is made of.
struct Derived {
    attrs: Vec<Attribute>,
    ident: Ident,
    generics: Generics,
}

impl Derived {
    fn expand(self, mut errors: Diagnostics) -> TokenStream {
        let Self { attrs, ident, generics } = self;
        if !generics.params.is_empty() {
            errors.error(&generics.params, "a form is one type: remove its generic parameters");
        }
        let rt = runtime(&attrs, &mut errors);
        let conditions = attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
        let (parameters, arguments, clause) = generics.split_for_impl();
        let registration = errors.is_empty().then(|| {
            let origin = rt.origin(ident.span(), &ident.unraw().to_string());
            quote! {
                #rt::inventory::submit! {
                    #rt::Registration::Form(&#rt::FormDescriptor { form: #rt::Form::of::<#ident>, origin: #origin })
                }
            }
        });
        let errors = errors.into_compile_errors();
        quote! {
            #(#conditions)*
            #[allow(unused_qualifications, deprecated)]
            const _: () = {
                impl #parameters #rt::ElicitationForm for #ident #arguments #clause {}
                #registration
            };
            #errors
        }
    }
}

/// Where the runtime is, by `#[mcp(crate = …)]`.
fn runtime(attributes: &[Attribute], errors: &mut Diagnostics) -> Runtime {
    let mut root = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("mcp")) {
        let tokens = arguments(attribute, errors);
        let mut keys = Keys::parse("`#[mcp]` on a form", Span::call_site(), tokens, errors);
        root = keys.path("crate", "path::to::mcp_runtime");
        keys.finish();
    }
    Runtime::new(root.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{errors, text};

    #[test]
    fn a_struct_is_a_form_and_registered() {
        let expansion = text(form(quote!(
            #[cfg(feature = "x")]
            #[mcp(crate = my::mcp)]
            struct Booking {
                name: String,
            }
        )));
        for part in [
            "#[cfg(feature=\"x\")]#[allow(",
            "implmy::mcp::__private::ElicitationFormforBooking{}",
            "Registration::Form(&my::mcp::__private::FormDescriptor{form:my::mcp::__private::Form::of::<Booking>,",
            "origin!(\"Booking\")",
        ] {
            assert!(expansion.contains(part), "no `{part}` in {expansion}");
        }
    }

    #[test]
    fn what_no_form_can_be_is_told_once() {
        for (item, fault) in [
            (
                quote!(
                    enum Seat {
                        A,
                    }
                ),
                "a form is a struct with named fields: make this enum the type of a field",
            ),
            (
                quote!(
                    struct A;
                ),
                "a form is a struct with named fields: add one",
            ),
            (
                quote!(
                    struct A {}
                ),
                "a form is a struct with named fields: add one",
            ),
            (
                quote!(
                    struct A(u8);
                ),
                "a form is a struct with named fields: name them",
            ),
            (quote!(union A { a: u8 }), "a form is a struct with named fields"),
            (
                quote!(
                    struct A<T> {
                        a: T,
                    }
                ),
                "a form is one type: remove its generic parameters",
            ),
            (
                quote!(
                    #[mcp(crat = x)]
                    struct A {
                        a: u8,
                    }
                ),
                "unknown key `crat`: did you mean `crate`?",
            ),
        ] {
            let expansion = form(item);
            assert!(expansion.to_string().contains("ElicitationForm for"), "{expansion}");
            assert_eq!(errors(expansion), [fault]);
        }
    }
}
