//! One call of an authorizer: in time, and with its panics caught.

use std::{future::poll_fn, pin::pin, sync::Arc, time::Duration};

use tokio::time::timeout;

use super::{
    authorizer::{DynAuthorizer, Grant, Permission},
    end::EndReason,
    publisher::BoxError,
    stream::Stream,
};
use crate::handler::panic::{Panic, poll_caught};

/// What application code says, if it says so in time.
pub(super) async fn timely<T>(
    what: &str,
    said: impl Future<Output = Result<T, BoxError>>,
    patience: Duration,
) -> Result<T, EndReason> {
    let mut said = pin!(said);
    match timeout(patience, poll_fn(|cx| poll_caught(said.as_mut(), cx))).await {
        Ok(Ok(Ok(said))) => return Ok(said),
        Ok(Ok(Err(error))) => tracing::error!(error, "{what} failed"),
        Ok(Err(Panic(panic))) => tracing::error!(panic, "{what} panicked"),
        Err(_) => tracing::error!(?patience, "{what} took too long"),
    }
    Err(EndReason::CheckFailed)
}

/// What an authorizer says; everything but a timely permission is a refusal.
pub(super) async fn checked(
    authorized: impl Future<Output = Result<Permission, BoxError>>,
    patience: Duration,
) -> Result<Grant, EndReason> {
    match timely("the authorizer of subscriptions", authorized, patience).await? {
        Permission::Allowed(grant) => Ok(grant),
        Permission::Denied => Err(EndReason::Denied),
    }
}

/// Asks for a stream's next permission. Leaving out what was acknowledged is none.
pub(super) async fn renewed(
    authorizer: Arc<dyn DynAuthorizer>,
    stream: Arc<Stream>,
    patience: Duration,
) -> Result<Grant, EndReason> {
    let context = stream.context();
    let check = stream.check(context.as_ref());
    let grant = checked(async { authorizer.authorize(&check).await }, patience).await?;
    let narrower = stream.selection.uris().any(|uri| grant.without.contains(uri));
    if narrower { Err(EndReason::Denied) } else { Ok(grant) }
}
