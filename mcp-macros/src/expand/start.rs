//! The function that a call starts a handler with.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::parameter::Expansion;
use crate::operation::Operation;

/// `fn __start`: reads the arguments, then makes the future that calls the function.
pub fn start(operation: &Operation<'_>, parameters: &[Expansion<'_>]) -> TokenStream {
    let Operation { handler, this, runtime: rt, .. } = operation;
    let function = &handler.signature.ident;
    // Hygienic, so that a function called `arguments` is not taken for the variable. What is not `Send` is reported
    // at the function's name.
    let site = Span::mixed_site();
    let named = site.located_at(function.span());
    let local = |name| Ident::new(name, site);
    let [arguments, invocation, output, receiver] = ["arguments", "invocation", "output", "this"].map(local);

    let read = parameters.iter().map(|parameter| parameter.read(&arguments));
    let resolve = parameters.iter().map(|parameter| parameter.resolve(&invocation));
    let values = parameters.iter().map(Expansion::local);
    let mut find_instance = TokenStream::new();
    let mut instance = local("_instance");
    let call = match (this, handler.receiver()) {
        (Some(this), Some(_)) => {
            instance = local("instance");
            find_instance = quote! {
                let #receiver = match #rt::instance::<#this>(#instance) {
                    ::core::option::Option::Some(#receiver) => #receiver,
                    ::core::option::Option::None => return #arguments.no_instance(),
                };
            };
            quote!(<#this>::#function(&#receiver, #(#values),*))
        }
        (Some(this), None) => quote!(<#this>::#function(#(#values),*)),
        (None, _) => quote!(#function(#(#values),*)),
    };
    let output_of_call = match handler.signature.asyncness {
        Some(_) => quote_spanned!(named=> #call.await),
        None => quote_spanned!(named=> #rt::blocking(&#invocation, move || #call).await?),
    };
    let future = quote_spanned! {named=>
        ::std::boxed::Box::pin(async move {
            #(#resolve)*
            let #output = #output_of_call;
            __R.finish(#output, &#invocation)
        })
    };
    quote! {
        fn __start(
            #instance: ::core::option::Option<&#rt::Instance>,
            #arguments: &mut #rt::ArgumentReader<'_>,
            #invocation: &#rt::Invocation,
        ) -> ::core::option::Option<#rt::HandlerFuture> {
            #(#read)*
            if !#arguments.finish() {
                return ::core::option::Option::None;
            }
            #find_instance
            let #invocation = ::core::clone::Clone::clone(#invocation);
            ::core::option::Option::Some(#future)
        }
    }
}
