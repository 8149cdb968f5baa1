//! A stream's state: what it has to say, whether it may, and whether it goes on.
//!
//! Nothing here waits, and nothing calls anybody: what has to be woken is returned. Every operation takes the time,
//! and the generation of permissions that is valid now, so that all of it can be tried without a clock.

use std::{
    sync::PoisonError,
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::time::Instant;

use super::{dirty::DirtyKeys, end::EndReason, sync::Mutex};

/// The state of one stream, shared by those who publish, poll and check it.
pub(super) struct Cell(Mutex<Core>);

struct Core {
    phase: Phase,
    acknowledged: bool,
    dirty: DirtyKeys,
    lease: Lease,
    /// The permission is being checked, or waits to be.
    checking: bool,
    /// A comment is due.
    keep_alive: bool,
    /// When something was last handed over.
    spoke: Instant,
    /// Since when something has been ready that nobody took.
    waiting_since: Option<Instant>,
    reader: Option<Waker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// The result is still to be taken.
    Ending(EndReason),
    Ended(EndReason),
}

/// For how long a stream may speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    /// The generation of permissions that it belongs to; in another one it is worth nothing.
    pub generation: u64,
    /// When it ends; `None`: with the stream.
    pub until: Option<Instant>,
    /// When to ask for the next one.
    pub renew_at: Option<Instant>,
}

/// What a stream hands over at once, in this order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Portion {
    pub acknowledgement: bool,
    /// Changed keys, by their position.
    pub keys: Vec<u16>,
    pub keep_alive: bool,
    /// The last message.
    pub result: bool,
}

/// The times that a stream goes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// When the stream ends in any case.
    pub lifetime_ends: Instant,
    pub keep_alive: Option<Duration>,
    pub write_timeout: Duration,
    /// How long a check may still take when the lease has ended.
    pub check_timeout: Duration,
}

/// What the clock brought.
#[derive(Debug, Default)]
pub(super) struct Tick {
    /// The permission should be checked now; it counts as being checked. By when, for the order of checks.
    pub check: Option<Instant>,
    /// Who should be woken.
    pub wake: Option<Waker>,
    /// It ended without anybody reading its result.
    pub cut: Option<EndReason>,
    /// When to look again; `None` when it has ended.
    pub next: Option<Instant>,
}

impl Lease {
    fn allows(&self, now: Instant, generation: u64) -> bool {
        self.generation == generation && self.until.is_none_or(|until| now < until)
    }
}

impl Cell {
    /// The state of a stream that is still to be acknowledged.
    pub(super) fn new(keys: usize, lease: Lease, now: Instant) -> Self {
        Self(Mutex::new(Core {
            phase: Phase::Open,
            acknowledged: false,
            dirty: DirtyKeys::new(keys),
            lease,
            checking: false,
            keep_alive: false,
            spoke: now,
            waiting_since: Some(now),
            reader: None,
        }))
    }

    /// A key has changed. Before the acknowledgement that means nothing: the client fetches after it.
    pub(super) fn mark(&self, key: u16, now: Instant) -> Option<Waker> {
        self.with(|core| {
            if core.phase != Phase::Open || !core.acknowledged || !core.dirty.insert(key) {
                return None;
            }
            core.waiting_since.get_or_insert(now);
            core.reader.take()
        })
    }

    /// A change of a key has been taken back before it was told.
    pub(super) fn unmark(&self, key: u16) {
        self.with(|core| core.dirty.remove(key));
    }

    /// What the stream has to say now; `None` once it has ended. Keys whose sizes come to `budget` are enough.
    ///
    /// The time and the generation are asked for under the lock: what was revoked before a key was marked must be known
    /// by the time that key is taken.
    pub(super) fn poll(
        &self,
        cx: &mut Context<'_>,
        moment: impl FnOnce() -> (Instant, u64),
        budget: usize,
        size: impl Fn(u16) -> usize,
    ) -> Poll<Option<Portion>> {
        self.with(|core| {
            let (now, generation) = moment();
            core.waiting_since = None;
            let mut portion = Portion::default();
            match core.phase {
                Phase::Ended(_) => return Poll::Ready(None),
                Phase::Ending(reason) => {
                    core.phase = Phase::Ended(reason);
                    portion.acknowledgement = !core.acknowledged;
                    portion.result = true;
                    return Poll::Ready(Some(portion));
                }
                Phase::Open if core.lease.allows(now, generation) => {
                    portion.acknowledgement = !core.acknowledged;
                    core.acknowledged = true;
                    if !core.dirty.is_empty() {
                        portion.keys = core.dirty.take(budget, size);
                    }
                }
                Phase::Open => {}
            }
            if portion == Portion::default() {
                portion.keep_alive = std::mem::take(&mut core.keep_alive);
            }
            if portion == Portion::default() {
                match &core.reader {
                    Some(reader) if reader.will_wake(cx.waker()) => {}
                    _ => core.reader = Some(cx.waker().clone()),
                }
                return Poll::Pending;
            }
            core.keep_alive = false;
            core.spoke = now;
            if !core.dirty.is_empty() {
                core.waiting_since = Some(now);
            }
            Poll::Ready(Some(portion))
        })
    }

    /// The permission was granted anew. What became dirty meanwhile may be told.
    pub(super) fn grant(&self, lease: Lease, now: Instant) -> Option<Waker> {
        self.with(|core| {
            core.lease = lease;
            core.checking = false;
            if core.phase != Phase::Open || (core.acknowledged && core.dirty.is_empty()) {
                return None;
            }
            core.waiting_since.get_or_insert(now);
            core.reader.take()
        })
    }

    /// The permission is to be checked; false if it is already being, or there is nothing left to permit.
    pub(super) fn begin_check(&self) -> bool {
        self.with(|core| core.phase == Phase::Open && !std::mem::replace(&mut core.checking, true))
    }

    /// By when the permission has to be there; it has ended if that is past.
    pub(super) fn permitted_until(&self) -> Option<Instant> {
        self.with(|core| core.lease.until)
    }

    /// The generation of permissions that it speaks by.
    pub(super) fn generation(&self) -> u64 {
        self.with(|core| core.lease.generation)
    }

    /// The server ends the stream: what was not told is dropped, and the result goes out. No effect on one that ends.
    pub(super) fn end(&self, reason: EndReason, now: Instant) -> Option<Waker> {
        self.with(|core| core.end(reason, now))
    }

    /// The stream is over, whatever it had to say. The reason, unless it was over before.
    pub(super) fn cut(&self, reason: EndReason) -> Option<EndReason> {
        self.with(|core| core.cut(reason))
    }

    /// Why it ended, or is about to.
    pub(super) fn reason(&self) -> Option<EndReason> {
        self.with(|core| match core.phase {
            Phase::Open => None,
            Phase::Ending(reason) | Phase::Ended(reason) => Some(reason),
        })
    }

    /// Whether nothing more will be handed over.
    pub(super) fn has_ended(&self) -> bool {
        self.with(|core| matches!(core.phase, Phase::Ended(_)))
    }

    /// Does what is due, and tells when to look again.
    pub(super) fn tick(&self, now: Instant, times: &Times) -> Tick {
        self.with(|core| core.tick(now, times))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Core) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Core {
    fn end(&mut self, reason: EndReason, now: Instant) -> Option<Waker> {
        if self.phase != Phase::Open {
            return None;
        }
        self.phase = Phase::Ending(reason);
        self.dirty.clear();
        self.waiting_since.get_or_insert(now);
        self.reader.take()
    }

    fn cut(&mut self, reason: EndReason) -> Option<EndReason> {
        let reason = match self.phase {
            Phase::Open => reason,
            Phase::Ending(earlier) => earlier,
            Phase::Ended(_) => return None,
        };
        self.phase = Phase::Ended(reason);
        self.dirty.clear();
        self.reader = None;
        Some(reason)
    }

    fn tick(&mut self, now: Instant, times: &Times) -> Tick {
        let mut tick = Tick::default();
        let stalled_at = self.waiting_since.map(|since| since + times.write_timeout);
        if stalled_at.is_some_and(|at| at <= now) {
            // Whoever would have to read this last moment does not; a waker lets the transport see the end.
            tick.wake = self.reader.take();
            tick.cut = self.cut(EndReason::Stalled);
            return tick;
        }
        if self.phase == Phase::Open {
            self.keep_up(now, times, &mut tick);
        }
        if matches!(self.phase, Phase::Ended(_)) {
            return tick;
        }
        // Looking once in `write_timeout` finds every stall in time.
        let mut next = now + times.write_timeout;
        next = next.min(self.waiting_since.map_or(next, |since| since + times.write_timeout));
        if self.phase == Phase::Open {
            next = next.min(times.lifetime_ends);
            let lease_ends = self.lease.until.map(|until| self.lease_ends(until, times));
            let renew_at = self.lease.renew_at.filter(|_| !self.checking);
            // A comment that is due now will be taken now, and the next one is due that much later.
            let spoke = if self.keep_alive { now } else { self.spoke };
            let speak_at = times.keep_alive.map(|every| spoke + every);
            next = [lease_ends, renew_at, speak_at].into_iter().flatten().fold(next, Instant::min);
        }
        tick.next = Some(next);
        tick
    }

    /// The end of the lease, or of the wait for the next one.
    fn lease_ends(&self, until: Instant, times: &Times) -> Instant {
        if self.checking { until + times.check_timeout } else { until }
    }

    /// What an open stream needs.
    fn keep_up(&mut self, now: Instant, times: &Times, tick: &mut Tick) {
        if times.lifetime_ends <= now {
            tick.wake = self.end(EndReason::Lifetime, now);
            return;
        }
        if let Some(until) = self.lease.until {
            if self.lease_ends(until, times) <= now {
                tick.wake = self.end(EndReason::Expired, now);
                return;
            }
            if !self.checking && self.lease.renew_at.is_some_and(|at| at <= now) {
                self.checking = true;
                tick.check = Some(until);
            }
        }
        if times.keep_alive.is_some_and(|every| self.spoke + every <= now) && !self.keep_alive {
            self.keep_alive = true;
            self.waiting_since.get_or_insert(now);
            tick.wake = self.reader.take();
        }
    }
}
