//! What a publisher's callers and its task share.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::{sync::Notify, time::Instant};

use super::{Change, FleetOptions, PublishError, message, message::Heard, pending::Pending};
use crate::subscription::InMemoryPublisher;

/// What a publisher for a fleet has done so far. Nothing is lost on the way:
/// `published == confirmed + coalesced + pending`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetStatus {
    /// Whether the broker has confirmed the subscription, and nothing is known to be wrong since.
    pub connected: bool,
    /// How many changes the broker has still to confirm.
    pub pending: usize,
    /// How many changes were published here.
    pub published: u64,
    /// How many of them the broker has confirmed.
    pub confirmed: u64,
    /// How many of them were not sent, because one that was pending says the same.
    pub coalesced: u64,
    /// How many changes other servers have told.
    pub received: u64,
    /// How often something may have been missed, so that the listeners were told
    /// [`Change::Everything`](crate::subscription::Change::Everything). The time before the first connection counts.
    pub gaps: u64,
}

pub(super) struct Shared {
    pub(super) listeners: InMemoryPublisher,
    /// The random name of this publisher.
    id: String,
    core: Mutex<Core>,
    /// Something is pending.
    added: Notify,
    /// Nothing is in flight any more.
    landed: Notify,
    /// Whoever waits for a status looks again.
    changed: Notify,
}

struct Core {
    pending: Pending,
    /// What was sent, by the number of its message, and has not come back; `None` is a message without a change.
    in_flight: VecDeque<(u64, Option<Change>)>,
    /// The number of the next message.
    next: u64,
    status: FleetStatus,
    heard_at: Instant,
    /// There is no task any more.
    stopped: bool,
}

impl Shared {
    pub(super) fn new(options: &FleetOptions) -> Self {
        Self {
            listeners: InMemoryPublisher::new(),
            id: format!("{:016x}", super::random()),
            core: Mutex::new(Core {
                pending: Pending::new(options.max_pending),
                in_flight: VecDeque::new(),
                next: 0,
                status: FleetStatus::default(),
                heard_at: Instant::now(),
                stopped: false,
            }),
            added: Notify::new(),
            landed: Notify::new(),
            changed: Notify::new(),
        }
    }

    pub(super) fn status(&self) -> FleetStatus {
        self.lock().status()
    }

    /// A change is to be told to the others.
    pub(super) fn add(&self, change: &Change) -> Result<(), PublishError> {
        let mut core = self.lock();
        core.status.published += 1;
        core.status.coalesced += core.pending.add(change) as u64;
        if core.stopped {
            return Err(ended());
        }
        drop(core);
        self.added.notify_one();
        Ok(())
    }

    /// Waits for a status.
    pub(super) async fn until(&self, holds: impl Fn(&FleetStatus) -> bool) -> Result<(), PublishError> {
        loop {
            let changed = self.changed.notified();
            {
                let core = self.lock();
                if holds(&core.status()) {
                    return Ok(());
                }
                if core.stopped {
                    return Err(ended());
                }
            }
            changed.await;
        }
    }

    /// The next messages with changes, `max` at most; they are in flight now. Waits for a change until `due`, and then
    /// there is none.
    pub(super) async fn next_batch(
        &self,
        max: usize,
        max_payload: usize,
        due: Instant,
    ) -> Option<Vec<Bytes>> {
        loop {
            let batch = self.take_batch(max, max_payload);
            if !batch.is_empty() {
                return Some(batch);
            }
            tokio::select! {
                () = self.added.notified() => {}
                () = tokio::time::sleep_until(due) => return None,
            }
        }
    }

    fn take_batch(&self, max: usize, max_payload: usize) -> Vec<Bytes> {
        let mut core = self.lock();
        let changes = core.pending.take(max);
        changes.into_iter().map(|change| self.launch(&mut core, Some(change), max_payload)).collect()
    }

    /// A message without a change, which is in flight now.
    pub(super) fn ping(&self) -> Bytes {
        self.launch(&mut self.lock(), None, usize::MAX)
    }

    fn launch(&self, core: &mut Core, change: Option<Change>, max_payload: usize) -> Bytes {
        let number = core.next;
        core.next += 1;
        let payload = message::encode(&self.id, number, change.as_ref(), max_payload);
        core.in_flight.push_back((number, change));
        payload
    }

    /// Waits until all that is in flight has come back.
    pub(super) async fn all_landed(&self) {
        while !self.lock().in_flight.is_empty() {
            self.landed.notified().await;
        }
    }

    /// When something was last heard.
    pub(super) fn heard_at(&self) -> Instant {
        self.lock().heard_at
    }

    /// Something has come from the broker; what it says to the listeners.
    pub(super) fn hear(&self, payload: &[u8]) -> Option<Change> {
        let heard = message::decode(&self.id, payload);
        let mut core = self.lock();
        core.heard_at = Instant::now();
        match heard {
            Heard::Echo(number) => {
                let landed = core.land(number);
                drop(core);
                if landed {
                    self.landed.notify_one();
                    self.changed.notify_waiters();
                }
                None
            }
            Heard::Change(change) => {
                core.status.received += 1;
                Some(change)
            }
            Heard::Unknown => {
                core.status.received += 1;
                tracing::debug!(
                    bytes = payload.len(),
                    "a message of a later version: anything may have changed"
                );
                Some(Change::Everything)
            }
            Heard::Nothing => None,
            Heard::Garbage => {
                tracing::warn!(
                    bytes = payload.len(),
                    "ignoring a message that is not from a publisher of changes"
                );
                None
            }
        }
    }

    /// The subscription is active. What was said before has been missed.
    pub(super) fn connected(&self) {
        let mut core = self.lock();
        core.status.connected = true;
        core.status.gaps += 1;
        drop(core);
        self.changed.notify_waiters();
    }

    /// The connection is gone: what was in flight is pending again. Whether it had been connected.
    pub(super) fn disconnected(&self) -> bool {
        let mut core = self.lock();
        let lost = std::mem::take(&mut core.in_flight);
        core.status.coalesced +=
            core.pending.put_back(lost.into_iter().filter_map(|(_, change)| change)) as u64;
        std::mem::take(&mut core.status.connected)
    }

    /// The task has ended.
    pub(super) fn stop(&self) {
        self.disconnected();
        self.lock().stopped = true;
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Core {
    fn status(&self) -> FleetStatus {
        let in_flight = self.in_flight.iter().filter(|(_, change)| change.is_some()).count();
        FleetStatus { pending: self.pending.len() + in_flight, ..self.status }
    }

    /// A message has come back; whether it was the last one in flight.
    fn land(&mut self, number: u64) -> bool {
        // They come back in their order, so it is the first.
        let Some(position) = self.in_flight.iter().position(|(sent, _)| *sent == number) else {
            return false;
        };
        if let Some((_, Some(_))) = self.in_flight.remove(position) {
            self.status.confirmed += 1;
        }
        self.in_flight.is_empty()
    }
}

fn ended() -> PublishError {
    PublishError::Unavailable("the runtime that the publisher was made in has ended".into())
}
