//! What a caller sees: for a request, and for the streams that listen to lists.

use std::sync::{Arc, OnceLock};

use tokio::time::{Instant, timeout_at};

use super::{
    Engine, Live,
    request::{Refused, late},
};
use crate::{
    handler::Caller,
    protocol::{Condition, ProtocolError, Revision},
    registry::{CatalogView, ViewRequest},
    subscription::{BoxError, Digesting, Digests, Viewer, Views},
};

impl Engine {
    /// What exists for a caller; without a policy, everything.
    pub(super) async fn view(
        &self,
        caller: &Caller,
        revision: Revision,
        deadline: Instant,
    ) -> Result<CatalogView, Refused> {
        match timeout_at(deadline, self.look(caller, revision)).await {
            Ok(Ok(view)) => Ok(view),
            Ok(Err(error)) => {
                tracing::error!(error, "what a caller may see could not be found out");
                Err(ProtocolError::new(Condition::Internal, "internal error").into())
            }
            Err(_) => Err(late().into()),
        }
    }

    /// What the policy says, in its own time.
    async fn look(&self, caller: &Caller, revision: Revision) -> Result<CatalogView, BoxError> {
        let Some(policy) = &self.shared.policy else { return Ok(CatalogView::everything()) };
        policy.view(&ViewRequest { caller, endpoint: &self.catalog.info, revision }).await
    }
}

/// The views of a server's callers on its endpoints; known once these are built.
#[derive(Default)]
pub(crate) struct EndpointViews(OnceLock<std::sync::Weak<[Live]>>);

impl EndpointViews {
    pub(crate) fn set(&self, endpoints: &Arc<[Live]>) {
        // Weak, since the endpoints hold the streams that ask.
        let _ = self.0.set(Arc::downgrade(endpoints));
    }
}

impl Views for EndpointViews {
    fn digests<'a>(&'a self, viewer: Viewer<'a>) -> Digesting<'a> {
        Box::pin(async move {
            let gone = || BoxError::from("the server is gone");
            let endpoints = self.0.get().and_then(std::sync::Weak::upgrade).ok_or_else(gone)?;
            let engine = endpoints.get(viewer.endpoint).ok_or_else(gone)?.now();
            let view = engine.look(viewer.caller, viewer.revision).await?;
            Ok(Digests(engine.catalog.digests(&view)))
        })
    }
}
