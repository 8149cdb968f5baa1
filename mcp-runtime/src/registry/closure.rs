//! Handlers given as closures, for endpoints that are filled by hand.

use std::{future::Future, sync::Arc};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use super::descriptor::{Instance, ParameterDescriptor, Start};
use crate::handler::{
    Args, ArgumentReader, CompletionOutput, FromInvocation, HandlerFuture, HandlerParameter, Injected,
    Invocation, PageOutput, Param, PromptOutput, ResourceOutput, Return, ToolOutput, completion_return,
    page_return, prompt_return, resource_return, tool_return,
};

/// Like a [`Start`], of a closure.
type StartClosure = dyn Fn(&mut ArgumentReader<'_>, &Invocation) -> Option<HandlerFuture> + Send + Sync;

/// Runs a handler, whatever it was made of.
#[derive(Clone)]
pub(crate) enum Runner {
    /// An annotated function; with the instance if it is a method.
    Annotated(Start, Option<Instance>),
    /// A closure.
    Closure(Arc<StartClosure>),
}

impl Runner {
    /// Reads the arguments and starts the handler's future; `None` if they don't fit.
    pub(crate) fn start(
        &self,
        reader: &mut ArgumentReader<'_>,
        invocation: &Invocation,
    ) -> Option<HandlerFuture> {
        match self {
            Self::Annotated(start, instance) => start(instance.as_ref(), reader, invocation),
            Self::Closure(start) => start(reader, invocation),
        }
    }
}

/// A closure with its parameters and return type, ready to be served.
#[derive(Clone)]
#[doc(hidden)]
pub struct BoundHandler {
    pub(super) runner: Runner,
    pub(super) parameters: Vec<ParameterDescriptor>,
    pub(super) output_schema: fn(&mut SchemaGenerator) -> Option<Schema>,
}

/// What a closure may take as a parameter: [`Args`], or anything that is injected.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a closure",
    label = "neither `Args<_>` nor injectable",
    note = "a closure's parameters have no names: take all arguments as one value, `Args<T>`",
    note = "progress is not available on every invocation: take `Option<ProgressReporter>`"
)]
pub trait ClosureParameter<Kind>: Sized + Send + 'static {
    #[doc(hidden)]
    const PARAM: Param<Self>;
}

/// Marks [`Args`].
#[derive(Debug)]
pub enum All {}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> ClosureParameter<All> for Args<T> {
    const PARAM: Param<Self> = <Self as HandlerParameter<_>>::PARAM;
}

#[diagnostic::do_not_recommend]
impl<T: FromInvocation> ClosureParameter<Injected> for T {
    const PARAM: Param<Self> = crate::handler::injected::<T>();
}

/// The kinds of operation that a closure may serve.
pub mod kind {
    /// A tool.
    #[derive(Debug)]
    pub enum ToolKind {}
    /// A resource.
    #[derive(Debug)]
    pub enum ResourceKind {}
    /// A prompt.
    #[derive(Debug)]
    pub enum PromptKind {}
    /// A completion.
    #[derive(Debug)]
    pub enum CompletionKind {}
    /// A resource list.
    #[derive(Debug)]
    pub enum PageKind {}
}
use kind::{CompletionKind, PageKind, PromptKind, ResourceKind, ToolKind};

/// A return type that fits a kind of operation.
pub trait HandlerOutput<Kind>: Send + 'static {
    #[doc(hidden)]
    fn returns() -> Return<Self>
    where
        Self: Sized;
}

macro_rules! outputs {
    ($($kind:ty: $bound:ident = $make:ident),*) => {$(
        impl<R: $bound> HandlerOutput<$kind> for R {
            fn returns() -> Return<Self> {
                $make()
            }
        }
    )*};
}
outputs!(
    ToolKind: ToolOutput = tool_return,
    ResourceKind: ResourceOutput = resource_return,
    PromptKind: PromptOutput = prompt_return,
    CompletionKind: CompletionOutput = completion_return,
    PageKind: PageOutput = page_return
);

/// An `async` closure or function that serves an operation of the given kind.
///
/// Its parameters are [`Args`] (all arguments as one value) and injected values, up to eight, in any order.
#[diagnostic::on_unimplemented(
    message = "this closure cannot serve the operation",
    label = "not a handler",
    note = "a handler is `async`, takes `Args<_>` and injectable values, and returns what the operation may return"
)]
pub trait Handler<Kind, Marker>: Send + Sync + 'static {
    #[doc(hidden)]
    fn bind(self) -> BoundHandler;
}

macro_rules! handlers {
    ($($parameter:ident $kind:ident),*) => {
        #[allow(non_snake_case, unused_variables, clippy::unused_unit)]
        impl<Kind, Function, Fut, $($parameter, $kind,)*> Handler<Kind, ($(($parameter, $kind),)*)> for Function
        where
            Function: Fn($($parameter),*) -> Fut + Send + Sync + 'static,
            Fut: Future<Output: HandlerOutput<Kind>> + Send + 'static,
            $($parameter: ClosureParameter<$kind>,)*
        {
            fn bind(self) -> BoundHandler {
                let function = Arc::new(self);
                let start = move |reader: &mut ArgumentReader<'_>, invocation: &Invocation| -> Option<HandlerFuture> {
                    $(let $parameter = $parameter::PARAM.read(reader, "", None);)*
                    if !reader.finish() {
                        return None;
                    }
                    let (function, invocation) = (function.clone(), invocation.clone());
                    Some(Box::pin(async move {
                        $(let $parameter = $parameter::PARAM.resolve($parameter, &invocation).await?;)*
                        let output = function($($parameter),*).await;
                        <Fut::Output as HandlerOutput<Kind>>::returns().finish(output, &invocation)
                    }))
                };
                BoundHandler {
                    runner: Runner::Closure(Arc::new(start)),
                    parameters: vec![$(ParameterDescriptor {
                        name: "",
                        description: None,
                        title: None,
                        header: None,
                        default: None,
                        erased: $parameter::PARAM.erased(),
                    }),*],
                    output_schema: <Fut::Output as HandlerOutput<Kind>>::returns().schema,
                }
            }
        }
    };
}
handlers!();
handlers!(P1 K1);
handlers!(P1 K1, P2 K2);
handlers!(P1 K1, P2 K2, P3 K3);
handlers!(P1 K1, P2 K2, P3 K3, P4 K4);
handlers!(P1 K1, P2 K2, P3 K3, P4 K4, P5 K5);
handlers!(P1 K1, P2 K2, P3 K3, P4 K4, P5 K5, P6 K6);
handlers!(P1 K1, P2 K2, P3 K3, P4 K4, P5 K5, P6 K6, P7 K7);
handlers!(P1 K1, P2 K2, P3 K3, P4 K4, P5 K5, P6 K6, P7 K7, P8 K8);
