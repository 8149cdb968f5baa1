//! Who listens, to what, and when each has to be looked after.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use slab::Slab;
use tokio::time::Instant;

use super::{
    change::{ChangeKind, ResourceUri},
    end::EndReason,
    stream::Stream,
    watch::Watched,
};
use crate::handler::Caller;

/// All streams of a server. Each can be found by what it listens to, so that a change costs nothing for the others.
pub(super) struct Directory {
    /// Nothing is added any more.
    pub(super) closed: bool,
    /// A task looks after the streams.
    pub(super) kept: bool,
    /// All permissions are to be checked.
    pub(super) reconciling: bool,
    pub(super) streams: Slab<Entry>,
    endpoints: Box<[Index]>,
    /// When each stream is to be looked at.
    timers: BTreeSet<(Instant, usize)>,
    /// Streams whose permission waits to be checked, the one whose lease ends first in front.
    checks: BTreeSet<(Instant, usize)>,
    /// Streams whose callers' views of lists are to be looked at.
    views: BTreeSet<usize>,
    /// Streams of identified callers, by endpoint.
    callers: HashMap<(usize, Arc<str>), usize>,
    /// Places that are taken: by streams, and by those that are still being opened.
    places: usize,
}

/// A stream and where it stands.
pub(super) struct Entry {
    pub(super) stream: Arc<Stream>,
    /// Its place in the index of each of its keys, in their order.
    places: Vec<usize>,
    due: Option<Instant>,
    check_by: Option<Instant>,
    /// Kept for as long as it listens, however long its transport keeps the stream.
    _watched: Vec<Arc<Watched>>,
}

/// The streams of one endpoint, by what they listen to.
#[derive(Default)]
struct Index {
    lists: [Members; 3],
    uris: HashMap<ResourceUri, Members>,
}

/// The streams that listen to one key. Places stay where they are while others come and go, so that a change may be
/// told in parts.
pub(super) type Members = Slab<Member>;

/// A stream's key.
#[derive(Clone, Copy)]
pub(super) struct Member {
    pub(super) stream: u32,
    pub(super) key: u16,
}

impl Directory {
    pub(super) fn new(endpoints: usize) -> Self {
        Self {
            closed: false,
            kept: false,
            reconciling: false,
            streams: Slab::new(),
            endpoints: std::iter::repeat_with(Index::default).take(endpoints).collect(),
            timers: BTreeSet::new(),
            checks: BTreeSet::new(),
            views: BTreeSet::new(),
            callers: HashMap::new(),
            places: 0,
        }
    }

    /// Takes a place for a stream that is to be opened.
    pub(super) fn take_place(
        &mut self,
        endpoint: usize,
        caller: &Caller,
        most: Option<usize>,
        most_of_caller: Option<usize>,
    ) -> Result<(), EndReason> {
        if self.closed {
            return Err(EndReason::ShuttingDown);
        }
        // A stream's number has to fit its members.
        let most = most.unwrap_or(usize::MAX).min(u32::MAX as usize);
        if self.places >= most {
            return Err(EndReason::Capacity);
        }
        if let Some(id) = caller.shared_id() {
            let key = (endpoint, Arc::clone(id));
            let taken = self.callers.get(&key).copied().unwrap_or(0);
            if most_of_caller.is_some_and(|most| taken >= most) {
                return Err(EndReason::Capacity);
            }
            self.callers.insert(key, taken + 1);
        }
        self.places += 1;
        Ok(())
    }

    /// Gives a place back.
    pub(super) fn leave_place(&mut self, endpoint: usize, caller: &Caller) {
        self.places -= 1;
        if let Some(id) = caller.shared_id() {
            let key = (endpoint, Arc::clone(id));
            match self.callers.get_mut(&key) {
                Some(taken) if *taken > 1 => *taken -= 1,
                _ => drop(self.callers.remove(&key)),
            }
        }
    }

    /// Adds a stream, whose place was taken before.
    pub(super) fn add(&mut self, stream: Arc<Stream>, watched: Vec<Arc<Watched>>) -> usize {
        let number = self.streams.vacant_key();
        let mut places = Vec::new();
        if let Some(index) = self.endpoints.get_mut(stream.endpoint) {
            for key in stream.own_keys() {
                places.push(index.members(&stream, key).insert(Member { stream: number as u32, key }));
            }
        }
        self.streams.insert(Entry { stream, places, due: None, check_by: None, _watched: watched })
    }

    /// Takes a stream out of everything, unless it is out already.
    pub(super) fn remove(&mut self, number: usize, stream: &Arc<Stream>) -> Option<Entry> {
        self.get(number, stream)?;
        let entry = self.streams.remove(number);
        if let Some(index) = self.endpoints.get_mut(stream.endpoint) {
            for (key, place) in stream.own_keys().zip(&entry.places) {
                index.remove(stream, key, *place);
            }
        }
        if let Some(due) = entry.due {
            self.timers.remove(&(due, number));
        }
        if let Some(by) = entry.check_by {
            self.checks.remove(&(by, number));
        }
        self.views.remove(&number);
        self.leave_place(stream.endpoint, &stream.caller);
        if self.streams.is_empty() {
            // What many streams needed is not kept for few.
            self.streams = Slab::new();
            self.endpoints.iter_mut().for_each(|index| *index = Index::default());
        }
        Some(entry)
    }

    /// The entry of a stream that is still there.
    fn get(&mut self, number: usize, stream: &Arc<Stream>) -> Option<&mut Entry> {
        self.streams.get_mut(number).filter(|entry| Arc::ptr_eq(&entry.stream, stream))
    }

    /// Those that listen to a list of an endpoint.
    pub(super) fn list(&self, endpoint: usize, kind: ChangeKind) -> Option<&Members> {
        self.endpoints.get(endpoint)?.lists.get(usize::from(Stream::list_key(kind)))
    }

    /// Those that listen to a resource at an endpoint.
    pub(super) fn resource(&self, endpoint: usize, uri: &ResourceUri) -> Option<&Members> {
        self.endpoints.get(endpoint)?.uris.get(uri)
    }

    /// Sets when a stream is to be looked at. Returns whether that is earlier than all others.
    pub(super) fn set_due(&mut self, number: usize, stream: &Arc<Stream>, due: Option<Instant>) -> bool {
        let first = self.timers.first().copied();
        let Some(entry) = self.get(number, stream) else { return false };
        if let Some(old) = std::mem::replace(&mut entry.due, due) {
            self.timers.remove(&(old, number));
        }
        let Some(due) = due else { return false };
        self.timers.insert((due, number));
        first.is_none_or(|(first, _)| due < first)
    }

    /// Takes streams that are due, at most `most`.
    pub(super) fn take_due(&mut self, now: Instant, most: usize) -> Vec<(usize, Arc<Stream>)> {
        let mut due = Vec::new();
        while due.len() < most
            && let Some(&(at, number)) = self.timers.first()
            && at <= now
        {
            self.timers.pop_first();
            if let Some(entry) = self.streams.get_mut(number) {
                entry.due = None;
                due.push((number, Arc::clone(&entry.stream)));
            }
        }
        due
    }

    /// When the next stream is to be looked at.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Queues a check that has to be done by a moment.
    pub(super) fn queue_check(&mut self, number: usize, stream: &Arc<Stream>, by: Instant) {
        let Some(entry) = self.get(number, stream) else { return };
        if let Some(old) = entry.check_by.replace(by) {
            self.checks.remove(&(old, number));
        }
        self.checks.insert((by, number));
    }

    /// Queues a look at what those see who listen to a list.
    pub(super) fn queue_views(&mut self, endpoint: usize, kind: ChangeKind) {
        let Some(index) = self.endpoints.get(endpoint) else { return };
        let Some(members) = index.lists.get(usize::from(Stream::list_key(kind))) else { return };
        self.views.extend(members.iter().map(|(_, member)| member.stream as usize));
    }

    /// Queues a look at what a stream's caller sees.
    pub(super) fn queue_view(&mut self, number: usize, stream: &Arc<Stream>) {
        if self.get(number, stream).is_some() {
            self.views.insert(number);
        }
    }

    /// Queues one more look for the stream that has a number now.
    pub(super) fn queue_view_again(&mut self, number: usize) {
        if self.streams.contains(number) {
            self.views.insert(number);
        }
    }

    /// A stream whose caller's view is to be looked at.
    pub(super) fn next_view(&mut self) -> Option<(usize, Arc<Stream>)> {
        loop {
            let number = self.views.pop_first()?;
            if let Some(entry) = self.streams.get(number) {
                return Some((number, Arc::clone(&entry.stream)));
            }
        }
    }

    /// The stream whose check is the most urgent.
    pub(super) fn next_check(&mut self) -> Option<(usize, Arc<Stream>)> {
        loop {
            let (_, number) = self.checks.pop_first()?;
            if let Some(entry) = self.streams.get_mut(number) {
                entry.check_by = None;
                return Some((number, Arc::clone(&entry.stream)));
            }
        }
    }

    /// Everything that is kept here, counted: streams, index entries, timers, waiting checks and views, callers, places.
    #[cfg(test)]
    pub(super) fn census(&self) -> [usize; 6] {
        let index = |index: &Index| {
            index.lists.iter().chain(index.uris.values()).map(Slab::len).sum::<usize>() + index.uris.len()
        };
        [
            self.streams.len(),
            self.endpoints.iter().map(index).sum(),
            self.timers.len(),
            self.checks.len() + self.views.len(),
            self.callers.len(),
            self.places,
        ]
    }
}

impl Index {
    fn members(&mut self, stream: &Stream, key: u16) -> &mut Members {
        match self.lists.get_mut(usize::from(key)) {
            Some(list) => list,
            None => self.uris.entry(stream.uri(key).clone()).or_default(),
        }
    }

    fn remove(&mut self, stream: &Stream, key: u16, place: usize) {
        if let Some(list) = self.lists.get_mut(usize::from(key)) {
            list.try_remove(place);
            return;
        }
        let uri = stream.uri(key);
        if let Some(members) = self.uris.get_mut(uri) {
            members.try_remove(place);
            if members.is_empty() {
                self.uris.remove(uri);
            }
        }
    }
}
