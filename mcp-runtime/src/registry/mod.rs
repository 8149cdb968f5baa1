//! From annotated or hand-filled items to validated, immutable catalogs with their bytes ready.

pub(crate) mod asking;
pub(crate) mod catalog;
pub(crate) mod check;
mod closure;
pub(crate) mod collect;
mod constraints;
mod descriptor;
mod endpoint;
mod fault;
mod identity;
mod keywords;
pub(crate) mod lists;
mod mirror;
mod operation;
mod revised;
mod schema;
mod view;

pub use self::{
    asking::FormDescriptor,
    closure::{ClosureParameter, Handler, HandlerOutput, kind},
    descriptor::{
        CacheDescriptor, CompletionDescriptor, CompletionTarget, DeclaredEndpoint, EndpointDescriptor,
        EndpointId, EndpointRef, ExtraArguments, IconDescriptor, Instance, OperationDescriptor,
        OperationKind, Origin, ParameterDescriptor, Registration, ResourceDescriptor, Scope, Start,
        ToolDescriptor, endpoint_id,
    },
    endpoint::Endpoint,
    fault::{BuildError, BuildFault},
    operation::{CompletionSource, Prompt, PromptArgument, Resource, ResourceList, Tool, ToolHints},
    view::{CatalogItem, CatalogPolicy, CatalogView, ViewRequest},
};
pub(crate) use self::{mirror::MirroredHeader, view::DynPolicy};
