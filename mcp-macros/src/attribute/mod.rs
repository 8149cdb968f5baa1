//! What the attributes say, as data. Values of a wrong form are reported while they are read.

mod duration;
mod endpoint;
mod entry;
mod icon;
mod keys;
mod operation;
mod parameter;

pub use self::{
    endpoint::{EndpointAttribute, ImplAttribute},
    icon::Icon,
    keys::Keys,
    operation::{
        Cache, Capabilities, CompletionKeys, ExtraArguments, OperationAttribute, OperationKeys,
        OperationKind, ResourceKeys, Scope, Target, ToolKeys, arguments,
    },
    parameter::{DefaultValue, ParameterAttribute, Source},
};
