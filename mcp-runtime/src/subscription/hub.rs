//! The streams of a server: opening, telling and ending them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst},
    },
    task::Waker,
    time::Duration,
};

use http::{Extensions, HeaderMap};
use tokio::{
    sync::{Notify, Semaphore, watch},
    time::Instant,
};

use super::{
    authorizer::{AuthorizerChoice, Grant, SubscriptionCheck},
    cell::{Cell, Lease, Times},
    change::{Change, ChangeKind},
    check::{checked, timely},
    directory::{Directory, Entry, Members},
    end::EndReason,
    keeper,
    publisher::{BoxError, ChangeListener},
    selection::{FilterBounds, Selection},
    stream::{Stream, Subscription, lease},
    views::{Seen, Viewer, Views},
    watch::{DynWatcher, Watched, Watches},
};
use crate::{
    handler::{Caller, EndpointInfo, Framing},
    protocol::{RequestId, Revision},
};

/// How many streams are told of a change before others may open, end or be told.
const BATCH: usize = 64;

/// What bounds the streams of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub streams: Option<usize>,
    pub per_caller: Option<usize>,
    pub lifetime: Duration,
    pub max_lease: Duration,
    pub authorization_timeout: Duration,
    /// Checks at once: of streams that are opened, and of those that are renewed.
    pub checks: usize,
    pub keep_alive: Option<Duration>,
    pub write_timeout: Duration,
    pub filter: FilterBounds,
}

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

/// All streams of a server.
pub(crate) struct Hub {
    pub(super) bounds: Bounds,
    pub(super) authorizer: AuthorizerChoice,
    /// Permissions that were granted in an earlier generation are worth nothing.
    pub(super) generation: AtomicU64,
    directory: Mutex<Directory>,
    /// Something is due earlier than the keeper knows.
    pub(super) alarm: Notify,
    first_checks: Semaphore,
    turns: AtomicU64,
    open: watch::Sender<usize>,
    ended: [AtomicUsize; EndReason::ALL.len()],
    watches: Option<Watches>,
    /// Knows what callers see, if they don't all see the same.
    pub(super) views: Option<Arc<dyn Views>>,
    /// How often a list has changed.
    list_changes: AtomicU64,
}

impl Hub {
    pub(crate) fn new(
        endpoints: usize,
        bounds: Bounds,
        authorizer: AuthorizerChoice,
        watcher: Option<Arc<dyn DynWatcher>>,
        views: Option<Arc<dyn Views>>,
    ) -> Self {
        Self {
            bounds,
            authorizer,
            generation: AtomicU64::new(0),
            directory: Mutex::new(Directory::new(endpoints)),
            alarm: Notify::new(),
            first_checks: Semaphore::new(bounds.checks),
            turns: AtomicU64::new(0),
            open: watch::Sender::new(0),
            ended: Default::default(),
            watches: watcher.map(Watches::new),
            views,
            list_changes: AtomicU64::new(0),
        }
    }

    /// How much a filter may ask for.
    pub(crate) fn filter_bounds(&self) -> FilterBounds {
        self.bounds.filter
    }

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

    /// Tells all streams that listen to what has changed. Waits for none of them.
    pub(crate) fn publish(&self, change: &Change) {
        let endpoints = self.lock().endpoints();
        let list = |kind| (0..endpoints).for_each(|endpoint| self.list_changed(endpoint, kind));
        match change {
            Change::Tools => list(ChangeKind::Tools),
            Change::Prompts => list(ChangeKind::Prompts),
            Change::Resources => list(ChangeKind::Resources),
            Change::Resource(uri) => {
                (0..endpoints).for_each(|endpoint| self.mark(|directory| directory.resource(endpoint, uri)));
            }
            Change::Everything => self.mark_everything(),
        }
    }

    /// Tells the streams of one endpoint that one of its lists has changed.
    pub(crate) fn list_changed(&self, endpoint: usize, kind: ChangeKind) {
        if self.views.is_none() {
            return self.mark(|directory| directory.list(endpoint, kind));
        }
        self.list_changes.fetch_add(1, SeqCst);
        self.lock().queue_views(endpoint, kind);
        self.alarm.notify_one();
    }

    /// Marks a key of some streams, a batch at a time: in between others get the lock, and readers are woken.
    fn mark(&self, members: impl Fn(&Directory) -> Option<&Members>) {
        let (now, mut next) = (Instant::now(), 0);
        let mut readers = Vec::new();
        loop {
            let directory = self.lock();
            let Some(members) = members(&directory) else { return };
            let end = members.capacity().min(next + BATCH);
            for place in next..end {
                let Some(member) = members.get(place) else { continue };
                if let Some(entry) = directory.streams.get(member.stream as usize) {
                    readers.extend(entry.stream.cell.mark(member.key, now));
                }
            }
            let more = end < members.capacity();
            drop(directory);
            readers.drain(..).for_each(Waker::wake);
            if !more {
                return;
            }
            next = end;
        }
    }

    fn mark_everything(&self) {
        let now = Instant::now();
        self.for_each(|_, stream| {
            let keys = stream.own_keys().filter(|key| stream.seen.is_none() || !Stream::is_list(*key));
            keys.filter_map(|key| stream.cell.mark(key, now)).for_each(Waker::wake);
        });
        if self.views.is_some() {
            let endpoints = self.lock().endpoints();
            for kind in [ChangeKind::Tools, ChangeKind::Prompts, ChangeKind::Resources] {
                (0..endpoints).for_each(|endpoint| self.list_changed(endpoint, kind));
            }
        }
    }

    /// Does something with each stream, a batch at a time and without the lock.
    pub(super) fn for_each(&self, mut act: impl FnMut(usize, &Arc<Stream>)) {
        let (mut next, mut batch) = (0, Vec::new());
        loop {
            let directory = self.lock();
            let end = directory.streams.capacity().min(next + BATCH);
            let entries = (next..end).filter_map(|number| Some((number, directory.streams.get(number)?)));
            batch.extend(entries.map(|(number, entry)| (number, Arc::clone(&entry.stream))));
            let more = end < directory.streams.capacity();
            drop(directory);
            batch.drain(..).for_each(|(number, stream)| act(number, &stream));
            if !more {
                return;
            }
            next = end;
        }
    }

    /// Stops all streams from speaking until their permission has been checked anew, and has that done.
    pub(crate) fn reconcile(&self) {
        if !matches!(self.authorizer, AuthorizerChoice::Custom(_)) {
            return;
        }
        self.generation.fetch_add(1, SeqCst);
        self.lock().reconciling = true;
        self.alarm.notify_one();
    }

    /// Ends all streams, and opens no more.
    pub(crate) fn shut_down(&self) {
        self.lock().closed = true;
        self.for_each(|number, stream| self.end(number, stream, EndReason::ShuttingDown));
    }

    /// Drops all streams, whether anybody has read their end or not. Returns how many there were.
    pub(crate) fn cut_all(&self) -> usize {
        let mut cut = 0;
        self.for_each(|number, stream| {
            if let Some(reason) = stream.cell.cut(EndReason::ShuttingDown) {
                self.remove(number, stream, reason);
                cut += 1;
            }
        });
        cut
    }

    /// Ends a stream: what it has not told is dropped, and its result goes out.
    pub(super) fn end(&self, number: usize, stream: &Arc<Stream>, reason: EndReason) {
        let reader = stream.cell.end(reason, Instant::now());
        self.attend(number, stream);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Does what is due for a stream, and sets when to look at it again.
    pub(super) fn attend(&self, number: usize, stream: &Arc<Stream>) {
        let tick = stream.cell.tick(Instant::now(), &stream.times);
        if let Some(reason) = tick.cut {
            self.remove(number, stream, reason);
        } else {
            let mut directory = self.lock();
            let mut alarm = directory.set_due(number, stream, tick.next);
            if let Some(by) = tick.check {
                directory.queue_check(number, stream, by);
                alarm = true;
            }
            drop(directory);
            if alarm {
                self.alarm.notify_one();
            }
        }
        tick.wake.into_iter().for_each(Waker::wake);
    }

    /// Has a new stream looked after.
    fn look_after(self: &Arc<Self>, number: usize, stream: &Arc<Stream>) {
        self.attend(number, stream);
        if !std::mem::replace(&mut self.lock().kept, true) {
            keeper::start(Arc::clone(self));
        }
    }

    /// A stream has ended: nothing of it stays.
    pub(super) fn remove(&self, number: usize, stream: &Arc<Stream>, reason: EndReason) {
        let mut directory = self.lock();
        let Some(entry) = directory.remove(number, stream) else { return };
        let last = directory.streams.is_empty();
        drop(directory);
        self.count(reason);
        tracing::debug!(
            jsonrpc.request.id = %stream.id, server.address = &*stream.info.path, %reason, "a subscription ended"
        );
        drop::<Entry>(entry);
        self.open.send_modify(|open| *open -= 1);
        if last {
            self.alarm.notify_one();
        }
    }

    fn count(&self, reason: EndReason) {
        self.ended[reason as usize].fetch_add(1, Relaxed);
    }

    /// How many streams have ended for a reason, or were not opened for it.
    pub(crate) fn ended(&self, reason: EndReason) -> usize {
        self.ended[reason as usize].load(Relaxed)
    }

    /// How many streams are open.
    pub(crate) fn open_streams(&self) -> usize {
        *self.open.borrow()
    }

    /// How many resources are watched.
    pub(crate) fn watched(&self) -> usize {
        self.watches.as_ref().map_or(0, Watches::len)
    }

    /// Waits until no stream is open.
    pub(crate) async fn drained(&self) {
        // The sender lives as long as this borrow.
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Directory> {
        self.directory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangeListener for Hub {
    fn changed(&self, change: &Change) -> Result<(), BoxError> {
        self.publish(change);
        Ok(())
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
