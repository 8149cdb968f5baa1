//! A handler's parameters and return, as data.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Attribute, Block, Expr, FnArg, Ident, Lifetime, ParenthesizedGenericArguments, Pat, PatIdent, PatType,
    Path, Receiver, ReturnType, Signature, Type, TypeFnPtr, ext::IdentExt, visit_mut::VisitMut,
};

use crate::{
    attribute::{DefaultValue, OperationKind, ParameterAttribute},
    diagnostics::Diagnostics,
    docs,
};

/// A function that answers requests.
pub struct Handler<'a> {
    pub signature: &'a Signature,
    pub body: &'a Block,
    /// The `#[cfg]`s that the function depends on.
    pub conditions: Vec<&'a Attribute>,
    pub description: Option<TokenStream>,
    pub parameters: Vec<Parameter>,
    pub output: Type,
}

/// One parameter, without the receiver.
pub struct Parameter {
    pub pattern: Pat,
    /// The name of a simple binding.
    pub binding: Option<Ident>,
    pub ty: Type,
    pub description: Option<TokenStream>,
    pub attribute: ParameterAttribute,
    /// The first `#[cfg]`, which a handler's parameter can't have.
    pub condition: Option<Attribute>,
}

/// The attributes of a parameter that the compiler must not see.
pub struct Annotations {
    documentation: Vec<Attribute>,
    keys: Vec<Attribute>,
}

impl Annotations {
    /// Takes them off the parameters of a function, one item a parameter.
    pub fn strip(signature: &mut Signature) -> Vec<Self> {
        let parameters = signature.inputs.iter_mut().filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(parameter),
            FnArg::Receiver(receiver) => {
                receiver.attrs.retain(|attribute| !is_ours(attribute));
                None
            }
        });
        parameters.map(|parameter| Self::take(&mut parameter.attrs)).collect()
    }

    fn take(attributes: &mut Vec<Attribute>) -> Self {
        let ours = attributes.extract_if(.., |attribute| is_ours(attribute));
        let (documentation, keys) = ours.partition(docs::is_documentation);
        Self { documentation, keys }
    }
}

fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().is_ident("mcp") || docs::is_documentation(attribute)
}

impl<'a> Handler<'a> {
    /// Reads a function whose parameters were stripped of `annotations`. In a method, `this` is what `Self` stands
    /// for.
    pub fn read(
        kind: OperationKind,
        attributes: &'a [Attribute],
        signature: &'a Signature,
        body: &'a Block,
        annotations: &[Annotations],
        this: Option<&Path>,
        errors: &mut Diagnostics,
    ) -> Self {
        let parameters = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(parameter),
            FnArg::Receiver(_) => None,
        });
        let parameters = parameters
            .zip(annotations)
            .map(|(parameter, annotations)| Parameter::read(kind, parameter, annotations, this, errors))
            .collect();
        let output = match &signature.output {
            ReturnType::Type(_, ty) => resolve(&**ty, this),
            ReturnType::Default => syn::parse_quote_spanned!(signature.ident.span()=> ()),
        };
        Self {
            signature,
            body,
            conditions: attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).collect(),
            description: docs::description(attributes),
            parameters,
            output,
        }
    }

    /// `&self` and its kin.
    pub fn receiver(&self) -> Option<&'a Receiver> {
        self.signature.receiver()
    }
}

impl Parameter {
    fn read(
        kind: OperationKind,
        parameter: &PatType,
        annotations: &Annotations,
        this: Option<&Path>,
        errors: &mut Diagnostics,
    ) -> Self {
        let mut attribute = ParameterAttribute::read(kind, &annotations.keys, errors);
        if let Some((_, DefaultValue::Expression(expression))) = &mut attribute.default {
            *expression = resolve::<Expr>(expression, this);
        }
        let binding = match &*parameter.pat {
            Pat::Ident(PatIdent { ident, .. }) => Some(ident.clone()),
            _ => None,
        };
        Self {
            pattern: (*parameter.pat).clone(),
            binding,
            ty: owned(resolve(&*parameter.ty, this)),
            description: docs::description(&annotations.documentation),
            attribute,
            condition: parameter.attrs.iter().find(|attribute| attribute.path().is_ident("cfg")).cloned(),
        }
    }

    /// What the parameter is called on the wire; `None` for a pattern that was not renamed.
    pub fn name(&self) -> Option<String> {
        match &self.attribute.rename {
            Some(rename) => Some(rename.value()),
            None => self.binding.as_ref().map(|binding| binding.unraw().to_string()),
        }
    }

    /// Where the name stands.
    pub fn name_tokens(&self) -> TokenStream {
        match &self.attribute.rename {
            Some(rename) => rename.to_token_stream(),
            None => self.pattern.to_token_stream(),
        }
    }

    /// The first key that only an argument can have, for the error that an injected value has it.
    pub fn argument_key(&self) -> Option<(&'static str, Span)> {
        let ParameterAttribute { rename, title, header, default, .. } = &self.attribute;
        let default = default.as_ref().map(|(key, _)| ("default", key.span()));
        let text = |key, value: &Option<syn::LitStr>| value.as_ref().map(|value| (key, value.span()));
        default.or(text("rename", rename)).or(text("header", header)).or(text("title", title))
    }
}

/// The same type for a value that borrows nothing: `Cow<'_, str>` is `Cow<'static, str>`.
fn owned(mut ty: Type) -> Type {
    struct Elided;
    impl VisitMut for Elided {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            if lifetime.ident == "_" {
                lifetime.ident = Ident::new("static", lifetime.ident.span());
            }
        }

        // In there it stands for any lifetime: `dyn Fn(Cow<'_, str>)`.
        fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}

        fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {}
    }
    Elided.visit_type_mut(&mut ty);
    ty
}

/// The same syntax, where `Self` is replaced by the type that it stands for, so that it can stand outside the `impl`.
pub fn resolve<T: ToTokens + syn::parse::Parse + Clone>(syntax: &T, this: Option<&Path>) -> T {
    let Some(this) = this else { return syntax.clone() };
    syn::parse2(replace_self(syntax.to_token_stream(), this)).unwrap_or_else(|_| syntax.clone())
}

/// Replaces every `Self` in `tokens` by a path, at the same place.
fn replace_self(tokens: TokenStream, this: &Path) -> TokenStream {
    let replaced = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(ident) if ident == "Self" => at(this, ident.span()),
        TokenTree::Group(group) => {
            let mut inner = proc_macro2::Group::new(group.delimiter(), replace_self(group.stream(), this));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        other => other.into(),
    });
    replaced.collect()
}

/// The same tokens, for which errors are reported at `span`.
pub fn at(tokens: &impl ToTokens, span: Span) -> TokenStream {
    let moved = tokens.to_token_stream().into_iter().map(|mut token| {
        token.set_span(span);
        token
    });
    moved.collect()
}
