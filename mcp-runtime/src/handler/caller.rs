//! Who is calling, as admission found out.

use std::sync::Arc;

use http::Extensions;

/// The identity of a caller.
///
/// An admission makes it; handlers see it in [`RequestContext::caller`](super::RequestContext::caller). Limits that
/// count per caller go by [`id`](Self::id); anonymous callers share one count.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    id: Option<Arc<str>>,
    extensions: Option<Arc<Extensions>>,
}

impl Caller {
    /// Nobody in particular.
    #[must_use]
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// A caller with a stable identity: a user, a tenant, a key.
    #[must_use]
    pub fn identified(id: impl Into<Arc<str>>) -> Self {
        Self { id: Some(id.into()), extensions: None }
    }

    /// Keeps a value with the caller, by its type: claims, scopes, a database row.
    #[must_use]
    pub fn with<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        let extensions = self.extensions.get_or_insert_with(Arc::default);
        Arc::make_mut(extensions).insert(value);
        self
    }

    /// The identity, unless the caller is anonymous.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    pub(crate) fn shared_id(&self) -> Option<&Arc<str>> {
        self.id.as_ref()
    }

    /// What tells apart two callers of one identity of whom admission kept different things; values can't be compared.
    pub(crate) fn evidence(&self) -> Option<usize> {
        self.extensions.as_ref().map(|extensions| Arc::as_ptr(extensions).cast::<()>() as usize)
    }

    /// Whether nothing is known of the caller.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.id.is_none()
    }

    /// A value that admission kept, by its type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.as_ref()?.get()
    }
}
