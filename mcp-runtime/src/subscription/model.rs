//! A stream's state in random histories, beside a model of it that is too simple to be wrong.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use proptest::{collection::vec, prelude::*};
use tokio::time::Instant;

use super::{
    cell::{Cell, Lease, Portion, Tick, Times},
    end::EndReason,
};

const KEYS: u16 = 5;
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);
const LIFETIME: Duration = Duration::from_secs(300);

/// What happens to a stream.
#[derive(Clone, Debug)]
enum Step {
    Mark(u16),
    Unmark(u16),
    /// Its client reads once, so many bytes or a little more.
    Poll(usize),
    /// Its client reads all that is there.
    Drain,
    /// Time passes while the keeper does what is due.
    Pass(Duration),
    /// Time passes, and the keeper is late.
    Oversleep(Duration),
    Reconcile,
    /// A check ends well. If the permission was revoked in that moment, it is worth nothing.
    Grant {
        lasting: Option<Duration>,
        revoked: bool,
    },
    Deny,
    ShutDown,
    Disconnect,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Whole seconds, so that things coincide.
    let seconds = |most: u64| (1..most).prop_map(Duration::from_secs);
    let lasting = prop_oneof![4 => seconds(60).prop_map(Some), 1 => Just(None)];
    let step = prop_oneof![
        12 => (0..KEYS).prop_map(Step::Mark),
        1 => (0..KEYS).prop_map(Step::Unmark),
        5 => (0..80_usize).prop_map(Step::Poll),
        5 => Just(Step::Drain),
        6 => seconds(20).prop_map(Step::Pass),
        2 => seconds(20).prop_map(Step::Oversleep),
        3 => Just(Step::Reconcile),
        7 => (lasting, proptest::bool::weighted(0.2))
            .prop_map(|(lasting, revoked)| Step::Grant { lasting, revoked }),
        1 => Just(Step::Deny),
        1 => prop_oneof![Just(Step::ShutDown), Just(Step::Disconnect)],
    ];
    vec(step, 1..80)
}

/// Large enough that budgets matter.
fn size(key: u16) -> usize {
    usize::from(key) * 10 + 1
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Open,
    Ending(EndReason),
    Over(EndReason),
}

/// What the stream should be, written for clarity alone.
struct Model {
    end: End,
    acknowledged: bool,
    /// What has changed and was not told, each once, in the order of the first change.
    untold: Vec<u16>,
    lease: Lease,
    checking: bool,
    comment: bool,
    spoke: Instant,
    /// Since when there has been something to take.
    ready_since: Option<Instant>,
}

impl Model {
    fn may_speak(&self, now: Instant, generation: u64) -> bool {
        self.end == End::Open
            && self.lease.generation == generation
            && self.lease.until.is_none_or(|until| now < until)
    }

    fn is_ready(&self, now: Instant, generation: u64) -> bool {
        match self.end {
            End::Open => {
                self.comment
                    || self.may_speak(now, generation) && !(self.acknowledged && self.untold.is_empty())
            }
            End::Ending(_) | End::Over(_) => true,
        }
    }

    fn poll(&mut self, now: Instant, generation: u64, budget: usize) -> Poll<Option<Portion>> {
        let mut portion = Portion::default();
        match self.end {
            End::Over(_) => return Poll::Ready(None),
            End::Ending(reason) => {
                self.end = End::Over(reason);
                portion.acknowledgement = !self.acknowledged;
                portion.result = true;
                return Poll::Ready(Some(portion));
            }
            End::Open => {}
        }
        if self.may_speak(now, generation) {
            portion.acknowledgement = !std::mem::replace(&mut self.acknowledged, true);
            let mut bytes = 0;
            while let Some(&key) = self.untold.first() {
                bytes += size(key);
                if bytes > budget && !portion.keys.is_empty() {
                    break;
                }
                portion.keys.push(self.untold.remove(0));
            }
        }
        if portion == Portion::default() {
            if !self.comment {
                return Poll::Pending;
            }
            portion.keep_alive = true;
        }
        (self.comment, self.spoke) = (false, now);
        Poll::Ready(Some(portion))
    }

    fn end(&mut self, reason: EndReason) {
        if self.end == End::Open {
            self.end = End::Ending(reason);
            self.untold.clear();
        }
    }

    fn cut(&mut self, reason: EndReason) {
        self.untold.clear();
        self.end = match self.end {
            End::Open => End::Over(reason),
            End::Ending(reason) | End::Over(reason) => End::Over(reason),
        };
    }
}

#[derive(Default)]
struct Alarm(AtomicBool);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// A stream with its model, its keeper and its reader.
struct History {
    cell: Cell,
    model: Model,
    times: Times,
    now: Instant,
    generation: u64,
    /// When the keeper looks at it again.
    due: Option<Instant>,
    alarm: Arc<Alarm>,
    waker: Waker,
    /// The last poll found nothing, so that the reader waits to be woken.
    waits: bool,
    /// When the reader was last polled, or woken after that.
    called: Instant,
    acknowledgements: usize,
    results: usize,
}

impl History {
    fn new(lasting: Option<Duration>) -> Self {
        let now = Instant::now();
        let lease = lease(now, lasting, 0);
        let alarm = Arc::new(Alarm::default());
        let model = Model {
            end: End::Open,
            acknowledged: false,
            untold: Vec::new(),
            lease,
            checking: false,
            comment: false,
            spoke: now,
            ready_since: None,
        };
        let times = Times {
            lifetime_ends: now + LIFETIME,
            keep_alive: Some(KEEP_ALIVE),
            write_timeout: WRITE_TIMEOUT,
            check_timeout: CHECK_TIMEOUT,
        };
        let waker = Waker::from(Arc::clone(&alarm));
        let mut history = Self {
            cell: Cell::new(usize::from(KEYS), lease, now),
            model,
            times,
            now,
            generation: 0,
            due: None,
            alarm,
            waker,
            waits: false,
            called: now,
            acknowledgements: 0,
            results: 0,
        };
        history.attend();
        history.check();
        history
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Mark(key) => {
                let reader = self.cell.mark(key, self.now);
                self.wake(reader);
                let heard = self.model.end == End::Open && self.model.acknowledged;
                if heard && !self.model.untold.contains(&key) {
                    self.model.untold.push(key);
                }
            }
            Step::Unmark(key) => {
                self.cell.unmark(key);
                self.model.untold.retain(|other| *other != key);
            }
            Step::Poll(budget) => drop(self.poll(budget)),
            Step::Drain => while matches!(self.poll(50), Poll::Ready(Some(_))) {},
            Step::Pass(duration) => {
                let until = self.now + duration;
                while let Some(due) = self.due.filter(|due| *due <= until) {
                    self.now = self.now.max(due);
                    self.attend();
                    self.check();
                }
                self.now = until;
            }
            Step::Oversleep(duration) => {
                self.now += duration;
                self.attend();
            }
            Step::Reconcile => {
                self.generation += 1;
                self.begin_check();
            }
            Step::Grant { lasting, revoked } => self.grant(lasting, revoked),
            Step::Deny if self.model.checking => self.end(EndReason::Denied),
            Step::Deny => {}
            Step::ShutDown => self.end(EndReason::ShuttingDown),
            Step::Disconnect => {
                let over = matches!(self.model.end, End::Over(_));
                assert_eq!(self.cell.cut(EndReason::ClientGone).is_none(), over, "it ends once");
                self.model.cut(EndReason::ClientGone);
                self.waits = false;
            }
        }
        self.check();
    }

    fn poll(&mut self, budget: usize) -> Poll<Option<Portion>> {
        let allowed = self.model.may_speak(self.now, self.generation);
        let ending = matches!(self.model.end, End::Ending(_));
        let mut cx = Context::from_waker(&self.waker);
        let polled = self.cell.poll(&mut cx, || (self.now, self.generation), budget, size);
        assert_eq!(polled, self.model.poll(self.now, self.generation, budget));
        self.alarm.0.store(false, SeqCst);
        (self.waits, self.called, self.model.ready_since) = (polled.is_pending(), self.now, None);
        if let Poll::Ready(Some(portion)) = &polled {
            assert!(portion.keys.is_empty() || allowed, "outside of its lease: {portion:?}");
            assert!(!portion.acknowledgement || allowed || ending, "outside of its lease: {portion:?}");
            assert_eq!(self.results, 0, "after the result: {portion:?}");
            self.acknowledgements += usize::from(portion.acknowledgement);
            self.results += usize::from(portion.result);
            assert!(
                self.acknowledgements == 1 || portion.keep_alive,
                "before its acknowledgement: {portion:?}"
            );
            let mut keys = portion.keys.clone();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), portion.keys.len(), "twice at once: {portion:?}");
        }
        polled
    }

    /// What the hub and the keeper do after a change and when the stream is due.
    fn attend(&mut self) {
        let (was, called) = (self.model.end, self.called);
        let Tick { check, wake, cut, next } = self.cell.tick(self.now, &self.times);
        self.wake(wake);
        assert!(next.is_none_or(|next| next > self.now), "due again at once");
        self.due = next;
        let lease_ends = self.lease_ends();
        let model = &mut self.model;
        if let Some(reason) = cut {
            assert!(
                called + WRITE_TIMEOUT <= self.now,
                "given up although its reader was not called so long"
            );
            assert_eq!(reason, if let End::Ending(earlier) = was { earlier } else { EndReason::Stalled });
            model.cut(EndReason::Stalled);
            return;
        }
        if model.end != End::Open {
            return;
        }
        if self.times.lifetime_ends <= self.now {
            return model.end(EndReason::Lifetime);
        }
        if lease_ends.is_some_and(|at| at <= self.now) {
            return model.end(EndReason::Expired);
        }
        let renew = !model.checking && model.lease.renew_at.is_some_and(|at| at <= self.now);
        assert_eq!(check.is_some(), renew, "checked when it is time, and once");
        model.checking |= renew;
        model.comment |= model.spoke + KEEP_ALIVE <= self.now;
    }

    /// When a stream without a new permission ends; one that is being asked for may come a little later.
    fn lease_ends(&self) -> Option<Instant> {
        let Model { lease, checking, .. } = self.model;
        lease.until.map(|until| if checking { until + CHECK_TIMEOUT } else { until })
    }

    fn begin_check(&mut self) {
        let begins = self.model.end == End::Open && !self.model.checking;
        assert_eq!(self.cell.begin_check(), begins);
        self.model.checking |= begins;
    }

    fn grant(&mut self, lasting: Option<Duration>, revoked: bool) {
        if !self.model.checking {
            return;
        }
        let lease = lease(self.now, lasting, self.generation);
        self.generation += u64::from(revoked);
        let reader = self.cell.grant(lease, self.now);
        self.attend_after(|model| {
            model.lease = lease;
            model.checking = false;
        });
        self.wake(reader);
        if revoked {
            self.begin_check();
        }
    }

    fn end(&mut self, reason: EndReason) {
        let reader = self.cell.end(reason, self.now);
        self.attend_after(|model| model.end(reason));
        self.wake(reader);
    }

    fn attend_after(&mut self, change: impl FnOnce(&mut Model)) {
        change(&mut self.model);
        self.attend();
    }

    fn wake(&mut self, reader: Option<Waker>) {
        if let Some(reader) = reader {
            assert!(self.waits, "nobody waits");
            reader.wake();
            self.waits = false;
            self.called = self.now;
        }
    }

    /// What holds at any time.
    fn check(&mut self) {
        let (now, generation) = (self.now, self.generation);
        if self.model.end == End::Open {
            let Model { lease, checking, .. } = self.model;
            assert!(now < self.times.lifetime_ends, "it is open for too long");
            assert!(self.lease_ends().is_none_or(|ends| now < ends), "it has no lease");
            assert!(checking || lease.renew_at.is_none_or(|at| now < at), "its renewal is late");
            assert!(self.model.comment || now < self.model.spoke + KEEP_ALIVE, "it is not kept alive");
        }
        let reason = match self.model.end {
            End::Open => None,
            End::Ending(reason) | End::Over(reason) => Some(reason),
        };
        assert_eq!(self.cell.reason(), reason);
        assert_eq!(self.cell.has_ended(), matches!(self.model.end, End::Over(_)));
        if !self.model.is_ready(now, generation) {
            self.model.ready_since = None;
            return;
        }
        assert!(!self.waits, "its reader sleeps while there is something to read");
        let since = *self.model.ready_since.get_or_insert(now);
        let over = matches!(self.model.end, End::Over(_));
        assert!(over || now < since + WRITE_TIMEOUT, "nobody has read it for so long, and it is still there");
    }

    /// Whatever has happened: a stream that is open and allowed tells all that has changed.
    fn finish(mut self) {
        self.step(&Step::Reconcile);
        self.step(&Step::Grant { lasting: None, revoked: false });
        let owed = self.model.untold.clone();
        let mut told = Vec::new();
        while let Poll::Ready(Some(portion)) = self.poll(20) {
            told.extend(portion.keys);
        }
        assert_eq!(told, owed);
        if self.model.end == End::Open {
            assert_eq!((self.acknowledgements, self.results), (1, 0));
        } else {
            assert!(matches!(self.model.end, End::Over(_)));
            assert!(self.poll(0) == Poll::Ready(None));
        }
    }
}

fn lease(now: Instant, lasting: Option<Duration>, generation: u64) -> Lease {
    Lease {
        generation,
        until: lasting.map(|lasting| now + lasting),
        renew_at: lasting.map(|lasting| now + lasting / 2),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_history_is_as_the_model_says(lasting in proptest::option::of(5_u64..60), steps in steps()) {
        let mut history = History::new(lasting.map(Duration::from_secs));
        for step in &steps {
            history.step(step);
        }
        history.finish();
    }
}
