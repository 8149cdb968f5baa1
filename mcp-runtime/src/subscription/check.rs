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

/// What an authorizer says; everything but a timely permission is a refusal.
pub(super) async fn checked(
    authorized: impl Future<Output = Result<Permission, BoxError>>,
    patience: Duration,
) -> Result<Grant, EndReason> {
    let mut authorized = pin!(authorized);
    match timeout(patience, poll_fn(|cx| poll_caught(authorized.as_mut(), cx))).await {
        Ok(Ok(Ok(Permission::Allowed(grant)))) => Ok(grant),
        Ok(Ok(Ok(Permission::Denied))) => Err(EndReason::Denied),
        Ok(Ok(Err(error))) => {
            tracing::error!(error, "a subscription could not be authorized");
            Err(EndReason::CheckFailed)
        }
        Ok(Err(Panic(panic))) => {
            tracing::error!(panic, "the authorizer of subscriptions panicked");
            Err(EndReason::CheckFailed)
        }
        Err(_) => {
            tracing::error!(?patience, "the authorizer of subscriptions took too long");
            Err(EndReason::CheckFailed)
        }
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
