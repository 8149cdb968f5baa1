//! Names in the runtime crate.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{LitStr, Path};

use crate::{
    attribute::{Cache, Capabilities, ExtraArguments, Icon, Scope},
    signature::at,
};

/// The module of the runtime that expansions use, as a path.
#[derive(Clone)]
pub struct Runtime(TokenStream);

impl Runtime {
    /// The expression of `Capabilities`.
    pub fn capabilities(&self, named: Capabilities) -> TokenStream {
        let Capabilities { sampling, sampling_tools, elicitation, elicitation_url, roots } = named;
        quote! {
            #self::Capabilities {
                sampling: #sampling,
                sampling_tools: #sampling_tools,
                elicitation: #elicitation,
                elicitation_url: #elicitation_url,
                roots: #roots
            }
        }
    }

    /// In the crate at `root`, if a `crate = …` names one.
    pub fn new(root: Option<&Path>) -> Self {
        Self(match root {
            Some(root) => quote!(#root::__private),
            None => quote!(::mcp_runtime::__private),
        })
    }

    /// The same path, for which errors are reported at `span`.
    pub fn at(&self, span: Span) -> Self {
        Self(at(&self.0, span))
    }

    /// The place in the user's sources that `span` is, which is told in errors and decides the order of discovery.
    pub fn origin(&self, span: Span, item: &str) -> TokenStream {
        // With the user's span on every token, `line!()` in there is that of the attribute, in an `impl` too.
        at(&quote!(#self::origin!(#item)), span)
    }

    pub fn icons(&self, icons: &[Icon]) -> TokenStream {
        let icons = icons.iter().map(|Icon { src, mime_type, sizes, theme }| {
            let (mime_type, theme) = (option(mime_type.as_ref()), option(theme.as_ref()));
            quote! {
                #self::IconDescriptor { src: #src, mime_type: #mime_type, sizes: &[#(#sizes),*], theme: #theme }
            }
        });
        quote!(&[#(#icons),*])
    }

    pub fn cache(&self, cache: Option<Cache>) -> TokenStream {
        option(cache.map(|Cache { ttl_ms, scope }| {
            let scope = match scope {
                Scope::Public => quote!(Public),
                Scope::Private => quote!(Private),
            };
            quote!(#self::CacheDescriptor { ttl_ms: #ttl_ms, scope: #self::Scope::#scope })
        }))
    }

    pub fn extra_arguments(&self, extra: Option<ExtraArguments>) -> TokenStream {
        option(extra.map(|extra| match extra {
            ExtraArguments::Refuse => quote!(#self::ExtraArguments::Refuse),
            ExtraArguments::Ignore => quote!(#self::ExtraArguments::Ignore),
        }))
    }
}

impl ToTokens for Runtime {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

/// The expression of an optional value.
pub fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

/// The description: what the attribute says, or else the doc comment.
pub fn description(explicit: Option<&LitStr>, documentation: Option<&TokenStream>) -> TokenStream {
    option(explicit.map(ToTokens::to_token_stream).as_ref().or(documentation))
}
