//! `subscriptions/listen`: from a request to its stream.

use tokio::time::{Instant, timeout_at};

use super::{
    Engine, Phase, Reply,
    handling::Started,
    request::{Admitted, Carried, Refused, SHUTTING_DOWN, late, overloaded},
    target::bad_params,
};
use crate::{
    protocol::{Condition, Fault, ListenFilter, ProtocolError, Raw, RequestId},
    registry::CatalogView,
    subscription::{EndReason, ListenRequest, ResourceUri, Selection, Subscription},
};

/// The longest id of a subscription, in bytes: each notification repeats it.
const MAX_ID_BYTES: usize = 1024;

impl Engine {
    /// Opens a subscription. It takes no place among the handlers, and its time ends with the acknowledgement.
    pub(super) fn listen(
        &self,
        request: &Admitted<'_>,
        carried: Carried,
        view: &CatalogView,
    ) -> Result<Started<'_>, Refused> {
        let Admitted { id, envelope, revision, caller, .. } = request;
        let notifications = envelope.params.notifications().required("/params/notifications", "an object");
        let notifications = notifications.map_err(|fault| bad_params(vec![fault]))?;
        let selection = self.selection(id, *notifications, view)?;
        let (id, revision, caller) = ((*id).clone(), *revision, caller.clone());
        Ok(Started::Queued(Box::pin(async move {
            let request = ListenRequest {
                id,
                framing: carried.framing,
                endpoint: self.number,
                info: self.catalog.info.clone(),
                revision,
                caller,
                selection,
                headers: &carried.headers,
                extensions: &carried.extensions,
            };
            Ok(Reply::Subscription(self.open(request, carried.arrived).await?))
        })))
    }

    /// What of a filter can be honoured.
    fn selection(
        &self,
        id: &RequestId,
        notifications: Raw<'_>,
        view: &CatalogView,
    ) -> Result<Selection, ProtocolError> {
        let mut text = Vec::new();
        id.write_json(&mut text);
        if text.len() > MAX_ID_BYTES {
            let message = format!("longer than {MAX_ID_BYTES} bytes, and each notification would repeat it");
            return Err(bad_params(vec![Fault::new("/id", message)]));
        }
        let filter = ListenFilter::read(notifications).map_err(bad_params)?;
        let (catalog, bounds) = (&self.catalog, self.shared.subscriptions.filter_bounds());
        let honours = |kind| catalog.changes.contains(&kind);
        let serves =
            |spelling: &str, uri: &ResourceUri| catalog.is_subscribable(view, spelling, uri.as_str());
        Selection::new(&filter, bounds, honours, serves).map_err(bad_params)
    }

    async fn open(&self, request: ListenRequest<'_>, arrived: Instant) -> Result<Subscription, Refused> {
        let opened =
            timeout_at(arrived + self.shared.limits.request_timeout, self.shared.subscriptions.open(request));
        tokio::select! {
            biased;
            () = self.shared.lifecycle.reached(Phase::Draining) => {
                self.shared.subscriptions.count(EndReason::ShuttingDown);
                Err(overloaded(SHUTTING_DOWN).into())
            }
            opened = opened => match opened {
                Ok(Ok(subscription)) => Ok(subscription),
                Ok(Err(reason)) => Err(refusal(reason).into()),
                Err(_) => Err(late().into()),
            },
        }
    }
}

/// Why a subscription is not opened, in the words of the wire.
fn refusal(reason: EndReason) -> ProtocolError {
    match reason {
        EndReason::Denied => ProtocolError::new(Condition::Forbidden, "this subscription is not allowed"),
        EndReason::Capacity => overloaded("too many subscriptions at once"),
        EndReason::ShuttingDown => overloaded(SHUTTING_DOWN),
        _ => ProtocolError::new(Condition::Internal, "the subscription could not be authorized"),
    }
}
