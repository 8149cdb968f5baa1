//! The streams of a server: telling and ending them.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst},
    },
    task::Waker,
    time::Duration,
};

use tokio::{
    sync::{Notify, Semaphore, watch},
    time::Instant,
};

use super::{
    authorizer::AuthorizerChoice,
    change::{Change, ChangeKind},
    directory::{Directory, Entry, Members},
    end::EndReason,
    keeper,
    publisher::{BoxError, ChangeListener},
    selection::FilterBounds,
    stream::Stream,
    views::Views,
    watch::{DynWatcher, Watches},
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

/// All streams of a server.
pub(crate) struct Hub {
    pub(super) bounds: Bounds,
    pub(super) authorizer: AuthorizerChoice,
    /// Permissions that were granted in an earlier generation are worth nothing.
    pub(super) generation: AtomicU64,
    /// How many endpoints the server has.
    endpoints: usize,
    directory: Mutex<Directory>,
    /// Something is due earlier than the keeper knows.
    pub(super) alarm: Notify,
    pub(super) first_checks: Semaphore,
    /// How many streams have been opened.
    pub(super) turns: AtomicU64,
    pub(super) open: watch::Sender<usize>,
    ended: [AtomicUsize; EndReason::ALL.len()],
    pub(super) watches: Option<Watches>,
    /// Knows what callers see, if they don't all see the same.
    pub(super) views: Option<Arc<dyn Views>>,
    /// How often a list has changed.
    pub(super) list_changes: AtomicU64,
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
            endpoints,
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

    /// Tells all streams that listen to what has changed. Waits for none of them.
    pub(crate) fn publish(&self, change: &Change) {
        let endpoints = self.endpoints;
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

    /// Tells the streams of one endpoint that any of its lists may have changed.
    pub(crate) fn all_lists_changed(&self, endpoint: usize) {
        ChangeKind::LISTS.into_iter().for_each(|kind| self.list_changed(endpoint, kind));
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
            (0..self.endpoints).for_each(|endpoint| self.all_lists_changed(endpoint));
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
    pub(super) fn look_after(self: &Arc<Self>, number: usize, stream: &Arc<Stream>) {
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

    /// Counts a stream that has ended, or was not opened.
    pub(crate) fn count(&self, reason: EndReason) {
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
