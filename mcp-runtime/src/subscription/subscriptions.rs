//! The application's view of its server's streams.

use std::sync::Arc;

use super::{end::EndReason, hub::Hub};

/// The streams of a server: how they are, and the demand to check them.
#[derive(Clone)]
pub struct Subscriptions(Arc<Hub>);

impl Subscriptions {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Self(hub)
    }

    /// Demands that every permission be checked now: call it when authority was revoked.
    ///
    /// When this returns, no stream of this server delivers anything, whether it is open or being opened, until its
    /// authorizer has allowed it anew; the checks themselves are not waited for. What changes meanwhile is kept, and
    /// delivered with the permission, or dropped with a denial. What was written before is not recalled.
    ///
    /// It is for this process only: in a fleet, let each server know. With [`allow_all`](super::allow_all) it does
    /// nothing.
    pub fn reconcile(&self) {
        self.0.reconcile();
    }

    /// How many streams are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.0.open_streams()
    }

    /// How many streams have ended for a reason, or were refused for it, since the server was built.
    #[must_use]
    pub fn ended(&self, reason: EndReason) -> usize {
        self.0.ended(reason)
    }

    /// How many resources are being watched for streams.
    #[must_use]
    pub fn watched(&self) -> usize {
        self.0.watched()
    }
}

impl std::fmt::Debug for Subscriptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ended: Vec<_> = EndReason::ALL.into_iter().map(|reason| (reason, self.ended(reason))).collect();
        f.debug_struct("Subscriptions").field("open", &self.open()).field("ended", &ended).finish()
    }
}
