//! Opening a stream: its place, its permission, its watches, and what its client sees already.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::Ordering::{Relaxed, SeqCst},
    },
    time::Duration,
};

use http::{Extensions, HeaderMap};
use tokio::time::Instant;

use super::{
    authorizer::{AuthorizerChoice, Grant, SubscriptionCheck},
    cell::{Cell, Lease, Times},
    check::{checked, timely},
    end::EndReason,
    hub::{Bounds, Hub},
    selection::Selection,
    stream::{Stream, Subscription, lease},
    views::{Seen, Viewer},
    watch::Watched,
};
use crate::{
    handler::{Caller, EndpointInfo, Framing},
    protocol::{RequestId, Revision},
};

/// A request for a subscription that was admitted.
pub(crate) struct ListenRequest<'r> {
    pub id: RequestId,
    pub framing: Framing,
    /// The endpoint's place among those of the server.
    pub endpoint: usize,
    pub info: Arc<EndpointInfo>,
    pub revision: Revision,
    pub caller: Caller,
    pub selection: Selection,
    pub headers: &'r HeaderMap,
    pub extensions: &'r Extensions,
}

impl Hub {
    /// Opens a stream; its first message is the acknowledgement.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn open(
        self: &Arc<Self>,
        request: ListenRequest<'_>,
    ) -> Result<Subscription, EndReason> {
        let opened = self.try_open(request).await;
        if let Err(reason) = &opened {
            self.count(*reason);
        }
        opened
    }

    async fn try_open(self: &Arc<Self>, request: ListenRequest<'_>) -> Result<Subscription, EndReason> {
        let place = Place::take(self, &request)?;
        let (grant, generation) = self.first_check(&request).await?;
        let granted = Instant::now();
        let mut selection = request.selection;
        selection.retain(|uri| !grant.without.contains(uri));
        let watched = self.watch(&mut selection).await;
        let list_changes = self.list_changes.load(SeqCst);
        let viewer =
            Viewer { endpoint: request.endpoint, caller: &request.caller, revision: request.revision };
        let seen = self.look(viewer, &selection).await?;
        let now = Instant::now();
        let turn = self.turns.fetch_add(1, Relaxed);
        let lifetime_ends = now + self.bounds.lifetime;
        let lasting = grant.lasting.min(self.bounds.max_lease);
        let lease = match self.authorizer {
            AuthorizerChoice::Custom(_) => lease(lasting, generation, granted, lifetime_ends, turn),
            _ => Lease { generation, until: None, renew_at: None },
        };
        let stream = Arc::new(Stream {
            cell: Cell::new(Stream::keys(&selection), lease, now),
            times: self.times(request.framing, lifetime_ends),
            id: request.id,
            framing: request.framing,
            endpoint: request.endpoint,
            info: request.info,
            revision: request.revision,
            caller: request.caller,
            selection: Arc::new(selection),
            context: Mutex::new(grant.context),
            turn,
            seen,
        });
        let number = place.fill(&stream, watched)?;
        if list_changes != self.list_changes.load(SeqCst) {
            // Too late for what was looked at, and too early for the index.
            self.lock().queue_view(number, &stream);
        }
        self.look_after(number, &stream);
        Ok(Subscription { hub: Arc::clone(self), stream, number })
    }

    fn times(&self, framing: Framing, lifetime_ends: Instant) -> Times {
        Times {
            lifetime_ends,
            keep_alive: self.bounds.keep_alive.filter(|_| framing.has_comments()),
            write_timeout: self.bounds.write_timeout,
            check_timeout: self.bounds.authorization_timeout,
        }
    }

    /// The permission to open a stream, with the generation that it belongs to. If all are revoked meanwhile, it is
    /// asked for again.
    async fn first_check(&self, request: &ListenRequest<'_>) -> Result<(Grant, u64), EndReason> {
        loop {
            let generation = self.generation.load(SeqCst);
            let AuthorizerChoice::Custom(authorizer) = &self.authorizer else {
                return Ok((Grant::lasting(Duration::MAX), generation));
            };
            let check = SubscriptionCheck {
                caller: &request.caller,
                endpoint: &request.info,
                revision: request.revision,
                selection: &request.selection,
                context: None,
                request: Some((request.headers, request.extensions)),
            };
            // Waiting for one's turn counts.
            let authorized = async {
                let _turn = self.first_checks.acquire().await;
                authorizer.authorize(&check).await
            };
            let grant = checked(authorized, self.bounds.authorization_timeout).await?;
            if grant.lasting.is_zero() {
                return Err(EndReason::Denied);
            }
            if self.generation.load(SeqCst) == generation {
                return Ok((grant, generation));
            }
        }
    }

    /// Has everything watched that is selected; what can't be is not selected any more.
    async fn watch(&self, selection: &mut Selection) -> Vec<Arc<Watched>> {
        let Some(watches) = &self.watches else { return Vec::new() };
        let mut held = BTreeMap::new();
        for uri in selection.uris() {
            if let Some(watched) = watches.hold(uri).await {
                held.insert(uri.clone(), watched);
            }
        }
        selection.retain(|uri| held.contains_key(uri));
        held.into_values().collect()
    }

    /// What the client of a new stream sees of lists, if that is not the same for all.
    async fn look(&self, viewer: Viewer<'_>, selection: &Selection) -> Result<Option<Box<Seen>>, EndReason> {
        let Some(views) = self.views.as_ref().filter(|_| selection.has_lists()) else { return Ok(None) };
        let digests = views.digests(viewer);
        let digests = timely("the catalog policy", digests, self.bounds.authorization_timeout).await?;
        Ok(Some(Box::new(Seen::new(digests))))
    }
}

/// The place of a stream that is being opened; given back unless it is filled.
struct Place<'h> {
    hub: &'h Hub,
    endpoint: usize,
    caller: Option<Caller>,
}

impl<'h> Place<'h> {
    fn take(hub: &'h Hub, request: &ListenRequest<'_>) -> Result<Self, EndReason> {
        let Bounds { streams, per_caller, .. } = hub.bounds;
        hub.lock().take_place(request.endpoint, &request.caller, streams, per_caller)?;
        Ok(Self { hub, endpoint: request.endpoint, caller: Some(request.caller.clone()) })
    }

    /// Puts the stream there. From now on it is told of changes, though it does not listen before it is acknowledged.
    fn fill(mut self, stream: &Arc<Stream>, watched: Vec<Arc<Watched>>) -> Result<usize, EndReason> {
        let mut directory = self.hub.lock();
        if directory.closed {
            return Err(EndReason::ShuttingDown);
        }
        self.caller = None;
        let number = directory.add(Arc::clone(stream), watched);
        // Under the lock: whoever finds the stream finds it counted.
        self.hub.open.send_modify(|open| *open += 1);
        // If all permissions were revoked since this one was granted, it might be too late for the general check.
        let revoked = stream.cell.generation() != self.hub.generation.load(SeqCst);
        if revoked && stream.cell.begin_check() {
            directory.queue_check(number, stream, Instant::now());
            self.hub.alarm.notify_one();
        }
        Ok(number)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(caller) = self.caller.take() {
            self.hub.lock().leave_place(self.endpoint, &caller);
        }
    }
}
