//! What of an endpoint exists for a caller.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use crate::{
    handler::{Caller, EndpointInfo},
    protocol::Revision,
};

/// Decides which tools, prompts and resources exist for a caller.
///
/// It is asked once for each request, and once for each subscription to a list when that list may have changed. What
/// the [`CatalogView`] hides is not listed, can't be called, read, completed or subscribed to, and is answered for
/// exactly as what does not exist. Lists are private then, and not to be kept.
///
/// ```
/// use mcp_runtime::registry::{CatalogItem, CatalogPolicy, CatalogView, ViewRequest};
/// use mcp_runtime::subscription::BoxError;
///
/// /// Only the admin sees the tools that begin with `admin_`.
/// struct Roles;
///
/// impl CatalogPolicy for Roles {
///     async fn view(&self, request: &ViewRequest<'_>) -> Result<CatalogView, BoxError> {
///         if request.caller().id() == Some("admin") {
///             return Ok(CatalogView::everything());
///         }
///         Ok(CatalogView::only(|item| !matches!(item, CatalogItem::Tool(name) if name.starts_with("admin_"))))
///     }
/// }
/// ```
pub trait CatalogPolicy: Send + Sync + 'static {
    /// What exists for a caller now.
    ///
    /// # Errors
    /// If that can't be found out: the request fails, and a subscription ends.
    fn view(
        &self,
        request: &ViewRequest<'_>,
    ) -> impl Future<Output = Result<CatalogView, Box<dyn std::error::Error + Send + Sync>>> + Send;
}

/// For whom a [`CatalogPolicy`] is asked.
#[derive(Clone, Copy, Debug)]
pub struct ViewRequest<'r> {
    pub(crate) caller: &'r Caller,
    pub(crate) endpoint: &'r EndpointInfo,
    pub(crate) revision: Revision,
}

impl<'r> ViewRequest<'r> {
    /// Who calls, by admission.
    #[must_use]
    pub fn caller(&self) -> &'r Caller {
        self.caller
    }

    /// The endpoint that is called.
    #[must_use]
    pub fn endpoint(&self) -> &'r EndpointInfo {
        self.endpoint
    }

    /// The protocol revision of the request.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }
}

/// Something that a catalog has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CatalogItem<'c> {
    /// The tool of this name.
    Tool(&'c str),
    /// The prompt of this name.
    Prompt(&'c str),
    /// The resource of this URI, or the template of this text.
    Resource(&'c str),
}

/// A part of a catalog.
#[derive(Clone, Default)]
pub struct CatalogView(Option<Arc<Predicate>>);

type Predicate = dyn Fn(CatalogItem<'_>) -> bool + Send + Sync;

impl CatalogView {
    /// All of it.
    #[must_use]
    pub fn everything() -> Self {
        Self(None)
    }

    /// What a predicate accepts. It is called often, and must not wait.
    pub fn only(accepts: impl Fn(CatalogItem<'_>) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(accepts)))
    }

    /// Whether nothing was left out, nor could be.
    pub(crate) fn is_everything(&self) -> bool {
        self.0.is_none()
    }

    /// Whether something exists.
    #[must_use]
    pub fn has(&self, item: CatalogItem<'_>) -> bool {
        self.0.as_ref().is_none_or(|accepts| accepts(item))
    }
}

impl fmt::Debug for CatalogView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_none() { "CatalogView::everything" } else { "CatalogView::only" })
    }
}

/// A [`CatalogPolicy`] whose type is forgotten.
pub(crate) trait DynPolicy: Send + Sync {
    fn view<'a>(&'a self, request: &'a ViewRequest<'a>) -> ViewFuture<'a>;
}

/// The future of a view.
pub(crate) type ViewFuture<'a> =
    Pin<Box<dyn Future<Output = Result<CatalogView, Box<dyn std::error::Error + Send + Sync>>> + Send + 'a>>;

impl<P: CatalogPolicy> DynPolicy for P {
    fn view<'a>(&'a self, request: &'a ViewRequest<'a>) -> ViewFuture<'a> {
        Box::pin(CatalogPolicy::view(self, request))
    }
}
