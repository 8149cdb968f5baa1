//! Who may hear of which changes, and for how long.

use std::{
    any::Any,
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use http::{Extensions, HeaderMap};

use super::{change::ResourceUri, publisher::BoxError, selection::Selection};
use crate::{
    handler::{Caller, EndpointInfo},
    protocol::Revision,
};

/// Decides whether a subscription may go on, and until when.
///
/// It is asked for the whole candidate before the stream is acknowledged, and again for what was acknowledged before
/// each lease ends, or when [`reconcile`](super::Subscriptions::reconcile) demands it. It should go by what is true
/// now: the caller and the context that it is given are evidence of the past. What it does not allow, and an error, a
/// panic or a check that takes longer than `authorization_timeout`, ends the stream.
///
/// ```
/// use std::time::Duration;
/// use mcp_runtime::subscription::{BoxError, Grant, Permission, SubscriptionAuthorizer, SubscriptionCheck};
///
/// /// Everybody may hear of lists, and only known callers of resources.
/// struct Members;
///
/// impl SubscriptionAuthorizer for Members {
///     async fn authorize(&self, check: &SubscriptionCheck<'_>) -> Result<Permission, BoxError> {
///         if check.selection().uris().len() > 0 && check.caller().is_anonymous() {
///             return Ok(Permission::Denied);
///         }
///         Ok(Grant::lasting(Duration::from_secs(60)).into())
///     }
/// }
/// ```
pub trait SubscriptionAuthorizer: Send + Sync + 'static {
    /// Checks one subscription.
    ///
    /// # Errors
    /// If that can't be found out; it counts as a refusal.
    fn authorize(
        &self,
        check: &SubscriptionCheck<'_>,
    ) -> impl Future<Output = Result<Permission, BoxError>> + Send;
}

/// What an authorizer says.
#[derive(Clone, Debug)]
pub enum Permission {
    /// The subscription may go on.
    Allowed(Grant),
    /// It may not.
    Denied,
}

impl From<Grant> for Permission {
    fn from(grant: Grant) -> Self {
        Self::Allowed(grant)
    }
}

/// A permission, with its end.
#[derive(Clone, Debug)]
pub struct Grant {
    pub(super) lasting: Duration,
    pub(super) context: Option<Context>,
    pub(super) without: Vec<ResourceUri>,
}

/// What an authorizer remembers of a subscription.
pub(super) type Context = Arc<dyn Any + Send + Sync>;

impl Grant {
    /// For so long from now. `max_lease` caps it.
    #[must_use]
    pub fn lasting(duration: Duration) -> Self {
        Self { lasting: duration, context: None, without: Vec::new() }
    }

    /// Until a time of the clock, such as a token's expiry. `max_lease` caps it.
    #[must_use]
    pub fn until(time: SystemTime) -> Self {
        Self::lasting(time.duration_since(SystemTime::now()).unwrap_or_default())
    }

    /// Remembers what the permission rests on: each later check is given it. To say that nothing has changed, return
    /// the same `Arc` again, not an equal one; another one makes the framework look again at everything that depends
    /// on the caller.
    #[must_use]
    pub fn context<T: Send + Sync + 'static>(mut self, context: Arc<T>) -> Self {
        self.context = Some(context);
        self
    }

    /// Keeps the context that the check was given.
    #[must_use]
    pub fn same_context(mut self, check: &SubscriptionCheck<'_>) -> Self {
        self.context = check.context.cloned();
        self
    }

    /// Leaves out resources: they are missing in the acknowledgement, as those are that don't exist. When a permission
    /// is renewed, leaving out a resource that was acknowledged ends the stream.
    #[must_use]
    pub fn without<'u>(mut self, uris: impl IntoIterator<Item = &'u ResourceUri>) -> Self {
        self.without.extend(uris.into_iter().cloned());
        self
    }
}

/// What an authorizer can go by.
#[derive(Clone, Copy, Debug)]
pub struct SubscriptionCheck<'c> {
    pub(super) caller: &'c Caller,
    pub(super) endpoint: &'c EndpointInfo,
    pub(super) revision: Revision,
    pub(super) selection: &'c Selection,
    pub(super) context: Option<&'c Context>,
    pub(super) request: Option<(&'c HeaderMap, &'c Extensions)>,
}

impl<'c> SubscriptionCheck<'c> {
    /// Who asked for the subscription, by admission.
    #[must_use]
    pub fn caller(&self) -> &'c Caller {
        self.caller
    }

    /// The endpoint.
    #[must_use]
    pub fn endpoint(&self) -> &'c EndpointInfo {
        self.endpoint
    }

    /// The protocol revision of the request.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// What is to be allowed: the candidate at first, what was acknowledged of it later.
    #[must_use]
    pub fn selection(&self) -> &'c Selection {
        self.selection
    }

    /// Whether this is the first check, before the acknowledgement.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.request.is_some()
    }

    /// What the last [`Grant`] remembered, if it is a `T`.
    #[must_use]
    pub fn context<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.context.and_then(|context| Arc::clone(context).downcast().ok())
    }

    /// The headers of the HTTP request; only at the first check, and empty on other transports.
    #[must_use]
    pub fn headers(&self) -> Option<&'c HeaderMap> {
        self.request.map(|(headers, _)| headers)
    }

    /// What a layer in front put into the request, by its type; only at the first check.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&'c T> {
        self.request.and_then(|(_, extensions)| extensions.get())
    }
}

/// Allows every subscription for as long as it lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AllowAll;

/// Allows every subscription: whoever may call may also listen.
#[must_use]
pub fn allow_all() -> AllowAll {
    AllowAll
}

impl SubscriptionAuthorizer for AllowAll {
    async fn authorize(&self, _: &SubscriptionCheck<'_>) -> Result<Permission, BoxError> {
        Ok(Grant::lasting(Duration::MAX).into())
    }
}

/// Allows no subscription.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DenyAll;

/// Denies every subscription: the feature is there, and nobody may use it yet.
#[must_use]
pub fn deny_all() -> DenyAll {
    DenyAll
}

impl SubscriptionAuthorizer for DenyAll {
    async fn authorize(&self, _: &SubscriptionCheck<'_>) -> Result<Permission, BoxError> {
        Ok(Permission::Denied)
    }
}

/// A [`SubscriptionAuthorizer`] whose type is forgotten.
pub(crate) trait DynAuthorizer: Send + Sync {
    fn authorize<'a>(
        &'a self,
        check: &'a SubscriptionCheck<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<Permission, BoxError>> + Send + 'a>>;
}

impl<A: SubscriptionAuthorizer> DynAuthorizer for A {
    fn authorize<'a>(
        &'a self,
        check: &'a SubscriptionCheck<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<Permission, BoxError>> + Send + 'a>> {
        Box::pin(SubscriptionAuthorizer::authorize(self, check))
    }
}

/// The authorizer of a server: nobody is asked where everything is allowed.
#[derive(Clone, Default)]
pub(crate) enum AuthorizerChoice {
    /// Not chosen: an endpoint that publishes changes can't be built.
    #[default]
    Unchosen,
    /// Everything, explicitly.
    AllowAll,
    /// By the application.
    Custom(Arc<dyn DynAuthorizer>),
}

impl AuthorizerChoice {
    pub(crate) fn new(authorizer: impl SubscriptionAuthorizer) -> Self {
        let any: &dyn Any = &authorizer;
        if any.is::<AllowAll>() { Self::AllowAll } else { Self::Custom(Arc::new(authorizer)) }
    }
}
