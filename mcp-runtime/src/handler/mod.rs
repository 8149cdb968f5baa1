//! What a handler is given and what it may return.
//!
//! A handler's parameters are chosen by their type: an argument of the call, or something injected
//! ([`FromInvocation`]). Its return type is one of the output traits ([`ToolOutput`], [`ResourceOutput`], …).

mod arguments;
mod ask;
mod blocking;
mod caller;
mod cancellation;
mod context;
mod error;
mod inject;
mod invocation;
mod log;
mod outbox;
mod output;
pub(crate) mod panic;
mod parameter;
mod progress;
mod schema;
mod state;
mod text;

pub use self::{
    arguments::{Args, ArgumentReader, Instance},
    ask::{Ask, ElicitationForm, Elicited, Form, FormError, RequestState},
    blocking::{WorkGuard, run_blocking},
    caller::Caller,
    cancellation::{CancelCallback, CancellationReason, CancellationToken, Cancelled},
    context::{EndpointInfo, RequestContext},
    error::{
        CompletionError, HandlerError, OperationError, PromptError, Rejection, ResourceError, ToolError,
    },
    inject::{FromInvocation, Needs, Slot},
    invocation::{Invocation, Target},
    log::Logger,
    outbox::{Framing, Outbox},
    output::{
        Blob, CompletionOutput, Json, Output, PageOutput, PromptOutput, ResourceEntry, ResourceOutput,
        ResourcePage, Return, Text, ToolOutput, completion_return, page_return, prompt_return,
        resource_return, tool_return,
    },
    parameter::{
        Argument, DefaultValue, ErasedParam, HandlerParameter, HeaderParameter, Injected, PageParameter,
        Param, PromptParameter, ResourceParameter, Staged, default_value, header_parameter, injected,
        page_parameter, prompt_parameter, resource_parameter, tool_argument, tool_parameter,
    },
    progress::{OptionalProgress, Progress, ProgressAmount, ProgressError, ProgressReporter},
    state::{Extension, State, StateMap},
};
pub(crate) use self::{
    ask::{Asking, ClientAnswer, ClientChannel, Mode, NextState, Reachable, Suspension},
    error::{OperationFailure, chain},
    invocation::InvocationParts,
    schema::strip_null,
};

/// The future of one running handler.
pub type HandlerFuture = std::pin::Pin<Box<dyn Future<Output = Result<Output, HandlerError>> + Send>>;
