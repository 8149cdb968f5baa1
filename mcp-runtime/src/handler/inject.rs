//! Values that a handler is given without the caller sending them.

use std::any::{TypeId, type_name};

use super::{
    Ask, CancellationToken, Extension, Invocation, Logger, ProgressReporter, Rejection, RequestContext,
    RequestState, State,
};

/// A type that handlers can take as a parameter, made from the invocation instead of the caller's arguments.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// The tenant that a request belongs to.
/// struct Tenant(String);
///
/// impl FromInvocation for Tenant {
///     type Rejection = Rejection;
///
///     async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
///         let context = invocation.context();
///         let tenant = context.headers().get("x-tenant").and_then(|value| value.to_str().ok());
///         tenant.map(|name| Self(name.to_owned())).ok_or_else(|| Rejection::invalid("name a tenant in `X-Tenant`"))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected into a handler",
    label = "not injectable",
    note = "implement `FromInvocation` for it, or share it with `State<{Self}>`"
)]
pub trait FromInvocation: Sized + Send + 'static {
    /// Why it can't be had; ends the request before the handler runs.
    type Rejection: Into<Rejection>;

    /// Makes the value. Runs within the request's deadline and its place among the running handlers.
    fn from_invocation(invocation: &Invocation)
    -> impl Future<Output = Result<Self, Self::Rejection>> + Send;

    /// Declares what must be there for it, so that `build()` can say what is missing.
    fn needs(needs: &mut Needs) {
        let _ = needs;
    }

    /// The value, if it can be made without waiting; saves the allocation of a future. A type that answers here
    /// always does.
    fn immediately(invocation: &Invocation) -> Option<Result<Self, Self::Rejection>> {
        let _ = invocation;
        None
    }

    /// What a handler may take only once.
    #[doc(hidden)]
    const SLOT: Slot = Slot::Any;
}

/// Kinds of parameters that a handler takes at most once.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// No such limit.
    Any,
    /// The progress reporter.
    Progress,
    /// The cancellation token.
    Cancellation,
    /// The request's context.
    Context,
    /// The logger.
    Logger,
    /// All arguments as one value.
    Arguments,
    /// The way to ask the client.
    Ask,
    /// The application's own state between rounds.
    RequestState,
}

impl Slot {
    /// Whether none of `earlier` is of the same limited kind; for assertions at compile time.
    #[must_use]
    pub const fn is_first(self, earlier: &[Self]) -> bool {
        let mut at = 0;
        while at < earlier.len() {
            if !matches!(self, Self::Any) && self as u8 == earlier[at] as u8 {
                return false;
            }
            at += 1;
        }
        true
    }

    /// Whether the client can be asked by such a handler; for assertions at compile time.
    #[must_use]
    pub const fn asks(self) -> bool {
        matches!(self, Self::Ask | Self::RequestState)
    }
}

/// What a handler's parameters need; checked when the server is built.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    states: Vec<(TypeId, &'static str)>,
    logging: bool,
    asking: bool,
    own_state: bool,
}

impl Needs {
    /// A value of type `T`, provided with `state(…)`.
    pub fn state<T: 'static>(&mut self) {
        self.states.push((TypeId::of::<T>(), type_name::<T>()));
    }

    /// The endpoint sends log notifications, and declares that.
    pub fn logging(&mut self) {
        self.logging = true;
    }

    /// The handler asks the client: [`Invocation::ask`] is there for it.
    pub fn asking(&mut self) {
        self.asking = true;
    }

    pub(crate) fn states(&self) -> &[(TypeId, &'static str)] {
        &self.states
    }

    pub(crate) fn uses_logging(&self) -> bool {
        self.logging
    }

    pub(crate) fn asks(&self) -> bool {
        self.asking
    }

    pub(crate) fn has_own_state(&self) -> bool {
        self.own_state
    }
}

macro_rules! infallible {
    ($type:ty, $slot:expr, $make:expr) => {
        impl FromInvocation for $type {
            type Rejection = Rejection;
            const SLOT: Slot = $slot;

            async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
                Ok($make(invocation))
            }

            fn immediately(invocation: &Invocation) -> Option<Result<Self, Rejection>> {
                Some(Ok($make(invocation)))
            }
        }
    };
}
infallible!(Option<ProgressReporter>, Slot::Progress, Invocation::progress);
infallible!(CancellationToken, Slot::Cancellation, Invocation::cancellation);
infallible!(RequestContext, Slot::Context, Invocation::context);

impl FromInvocation for Logger {
    type Rejection = Rejection;
    const SLOT: Slot = Slot::Logger;

    async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
        Ok(invocation.logger())
    }

    fn needs(needs: &mut Needs) {
        needs.logging();
    }

    fn immediately(invocation: &Invocation) -> Option<Result<Self, Rejection>> {
        Some(Ok(invocation.logger()))
    }
}

impl FromInvocation for Ask {
    type Rejection = Rejection;
    const SLOT: Slot = Slot::Ask;

    async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
        invocation.ask().ok_or_else(|| Rejection::internal("this kind of operation does not ask"))
    }

    fn needs(needs: &mut Needs) {
        needs.asking();
    }

    fn immediately(invocation: &Invocation) -> Option<Result<Self, Rejection>> {
        invocation.ask().map(Ok)
    }
}

impl FromInvocation for RequestState {
    type Rejection = Rejection;
    const SLOT: Slot = Slot::RequestState;

    async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
        invocation.request_state().ok_or_else(|| Rejection::internal("this kind of operation does not ask"))
    }

    fn needs(needs: &mut Needs) {
        needs.own_state = true;
    }

    fn immediately(invocation: &Invocation) -> Option<Result<Self, Rejection>> {
        invocation.request_state().map(Ok)
    }
}

impl<T: Clone + Send + Sync + 'static> FromInvocation for State<T> {
    type Rejection = Rejection;

    async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
        let missing = || Rejection::internal(format!("no state of type `{}` was provided", type_name::<T>()));
        invocation.state().map(Self).ok_or_else(missing)
    }

    fn needs(needs: &mut Needs) {
        needs.state::<T>();
    }

    fn immediately(invocation: &Invocation) -> Option<Result<Self, Rejection>> {
        invocation.state().map(|value| Ok(Self(value)))
    }
}

impl<T: Clone + Send + Sync + 'static> FromInvocation for Extension<T> {
    type Rejection = Rejection;

    async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
        let missing = || {
            Rejection::internal(format!(
                "no layer put a `{}` into the request's extensions",
                type_name::<T>()
            ))
        };
        invocation.extension().map(Self).ok_or_else(missing)
    }

    fn immediately(invocation: &Invocation) -> Option<Result<Self, Rejection>> {
        invocation.extension().map(|value| Ok(Self(value)))
    }
}

impl<T: Clone + Send + Sync + 'static> FromInvocation for Option<Extension<T>> {
    type Rejection = Rejection;

    async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
        Ok(invocation.extension().map(Extension))
    }
}
