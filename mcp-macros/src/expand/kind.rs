//! What only one kind of operation has in its descriptor.

use proc_macro2::TokenStream;
use quote::quote;

use super::runtime::{Runtime, option};
use crate::attribute::{CompletionKeys, OperationKeys, ResourceKeys, Target, ToolKeys};

/// The `OperationKind` of a descriptor.
pub fn kind(keys: &OperationKeys, rt: &Runtime) -> TokenStream {
    match keys {
        OperationKeys::Tool(keys) => tool(keys, rt),
        OperationKeys::Resource(keys) => resource(keys, rt),
        OperationKeys::ResourceList => quote!(#rt::OperationKind::ResourceList),
        OperationKeys::Prompt => quote!(#rt::OperationKind::Prompt),
        OperationKeys::Completion(keys) => completion(keys, rt),
    }
}

fn tool(keys: &ToolKeys, rt: &Runtime) -> TokenStream {
    let ToolKeys { read_only, destructive, idempotent, open_world, input_schema, extra_arguments } = keys;
    let [read_only, destructive, idempotent, open_world] =
        [read_only, destructive, idempotent, open_world].map(|hint| option(hint.as_ref()));
    let input_schema = option(input_schema.as_ref().map(|_| quote!(__INPUT_SCHEMA)));
    let extra_arguments = rt.extra_arguments(*extra_arguments);
    quote! {
        #rt::OperationKind::Tool(#rt::ToolDescriptor {
            read_only: #read_only,
            destructive: #destructive,
            idempotent: #idempotent,
            open_world: #open_world,
            input_schema: #input_schema,
            extra_arguments: #extra_arguments,
            output_schema: __R.schema,
        })
    }
}

fn resource(ResourceKeys { uri, mime_type, size }: &ResourceKeys, rt: &Runtime) -> TokenStream {
    let mime_type = option(mime_type.as_ref());
    let size = option(size.as_ref().map(|(bytes, _)| bytes));
    quote! {
        #rt::OperationKind::Resource(#rt::ResourceDescriptor { uri: #uri, mime_type: #mime_type, size: #size })
    }
}

fn completion(CompletionKeys { target, argument }: &CompletionKeys, rt: &Runtime) -> TokenStream {
    let target = match target {
        Target::Prompt(name) => quote!(#rt::CompletionTarget::Prompt(#name)),
        Target::Resource(uri) => quote!(#rt::CompletionTarget::Resource(#uri)),
    };
    quote! {
        #rt::OperationKind::Completion(#rt::CompletionDescriptor { target: #target, argument: #argument })
    }
}
