//! What the attributes expand to. Not for use by hand: it changes without notice.

pub use inventory;
pub use schemars::{Schema, SchemaGenerator};
pub use serde_json::{Error as JsonError, Value, to_value};

pub use crate::{
    __origin as origin,
    handler::{
        ArgumentReader, ElicitationForm, Form, FormError, HandlerFuture, Injected, Invocation, Param, Return,
        Slot, completion_return, default_value, header_parameter, injected, page_parameter, page_return,
        prompt_parameter, prompt_return, resource_parameter, resource_return, run_blocking as blocking,
        tool_argument, tool_parameter, tool_return,
    },
    protocol::{Capabilities, ChangeKind, Revision},
    registry::{
        CacheDescriptor, CompletionDescriptor, CompletionTarget, DeclaredEndpoint, EndpointDescriptor,
        EndpointId, EndpointRef, ExtraArguments, FormDescriptor, IconDescriptor, Instance,
        OperationDescriptor, OperationKind, Origin, ParameterDescriptor, Registration, ResourceDescriptor,
        Scope, Start, ToolDescriptor, endpoint_id,
    },
    request_state::measured::MeasuredStates,
};

use std::sync::Arc;

/// Whether a parameter's kind does not occur among the earlier ones, if a handler takes it only once.
#[must_use]
pub const fn is_first(slot: Slot, earlier: &[Slot]) -> bool {
    slot.is_first(earlier)
}

/// An endpoint's instance, for sharing.
pub fn new_instance<E: DeclaredEndpoint>(endpoint: E) -> Instance {
    Arc::new(endpoint)
}

/// The instance as what it is.
#[must_use]
pub fn instance<E: DeclaredEndpoint>(instance: Option<&Instance>) -> Option<Arc<E>> {
    Arc::clone(instance?).downcast().ok()
}

/// Parses an envelope from arbitrary bytes; for fuzzing.
#[must_use]
pub fn parse_envelope(body: &[u8]) -> bool {
    crate::protocol::Envelope::parse(body).is_ok()
}
