//! The core of a stream under the interleavings of those who share it: marks, polls, permissions and ends.
//!
//! A reader that sleeps for ever is a deadlock, and that is found.

// The very code of the runtime, with another lock.
#[allow(dead_code)]
#[path = "../../mcp-runtime/src/subscription/cell.rs"]
mod cell;
#[allow(dead_code)]
#[path = "../../mcp-runtime/src/subscription/dirty.rs"]
mod dirty;
#[allow(dead_code)]
#[path = "../../mcp-runtime/src/subscription/end.rs"]
mod end;
mod sync {
    pub(super) use shuttle::sync::Mutex;
}

use std::{
    future::poll_fn,
    sync::{Arc, LazyLock},
    task::{Context, Poll, Waker},
    time::Duration,
};

use shuttle::{
    future::block_on,
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst},
    thread,
};
use tokio::time::Instant;

use self::{
    cell::{Cell, Lease, Portion, Times},
    end::EndReason,
};

const KEYS: usize = 3;

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

fn now() -> Instant {
    *BEGAN
}

fn later() -> Instant {
    *BEGAN + Duration::from_secs(60)
}

fn times() -> Times {
    Times {
        lifetime_ends: now() + Duration::from_secs(3600),
        keep_alive: None,
        write_timeout: Duration::from_secs(30),
        check_timeout: Duration::from_secs(5),
    }
}

/// A stream with what it tells of.
struct Shared {
    cell: Cell,
    generation: AtomicU64,
    /// The versions of the resources.
    versions: [AtomicUsize; KEYS],
}

impl Shared {
    fn new() -> Arc<Self> {
        let cell = Cell::new(KEYS, lease(0), now());
        Arc::new(Self { cell, generation: AtomicU64::new(0), versions: Default::default() })
    }

    /// One that was acknowledged.
    fn acknowledged() -> Arc<Self> {
        let shared = Self::new();
        assert!(shared.read().is_some_and(|portion| portion.acknowledgement));
        shared
    }

    fn change(&self, key: usize) {
        self.versions[key].fetch_add(1, SeqCst);
        wake(self.cell.mark(key as u16, now()));
    }

    /// Waits for something to read.
    fn read(&self) -> Option<Portion> {
        let moment = || (now(), self.generation.load(SeqCst));
        block_on(poll_fn(|cx| self.cell.poll(cx, moment, 1, |_| 1)))
    }

    fn end(&self, reason: EndReason) {
        wake(self.cell.end(reason, now()));
    }
}

fn lease(generation: u64) -> Lease {
    Lease { generation, until: None, renew_at: None }
}

fn wake(reader: Option<Waker>) {
    if let Some(reader) = reader {
        reader.wake();
    }
}

fn spawn(shared: &Arc<Shared>, act: impl FnOnce(&Shared) + Send + 'static) -> thread::JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || act(&shared))
}

/// Tries all interleavings if they are few, and else many at random.
fn check(scenario: impl Fn() + Send + Sync + 'static) {
    let scenario = Arc::new(scenario);
    let again = Arc::clone(&scenario);
    shuttle::check_dfs(move || again(), Some(5_000));
    let again = Arc::clone(&scenario);
    shuttle::check_pct(move || again(), 2_000, 3);
    shuttle::check_random(move || scenario(), 2_000);
}

#[test]
fn a_client_that_fetches_after_the_acknowledgement_misses_no_change() {
    check(|| {
        let shared = Shared::new();
        let publishers = [[0, 1], [1, 2]]
            .map(|keys| spawn(&shared, move |shared| keys.into_iter().for_each(|key| shared.change(key))));
        let mut seen = [0; KEYS];
        let fetch = |seen: &mut [usize; KEYS], key: usize| seen[key] = shared.versions[key].load(SeqCst);
        assert!(shared.read().is_some_and(|portion| portion.acknowledgement && portion.keys.is_empty()));
        (0..KEYS).for_each(|key| fetch(&mut seen, key));
        while seen != [1, 2, 1] {
            let portion = shared.read().expect("nobody ends it");
            assert!(!portion.acknowledgement && !portion.result);
            portion.keys.iter().for_each(|key| fetch(&mut seen, usize::from(*key)));
        }
        publishers.into_iter().for_each(|publisher| publisher.join().unwrap());
    });
}

#[test]
fn what_changes_during_a_fence_is_told_when_permission_comes() {
    check(|| {
        let shared = Shared::acknowledged();
        let application = spawn(&shared, |shared| {
            shared.change(0);
            shared.generation.fetch_add(1, SeqCst);
            shared.change(1);
            shared.change(0);
        });
        let keeper = spawn(&shared, |shared| {
            let generation = shared.generation.load(SeqCst);
            shared.cell.begin_check();
            wake(shared.cell.grant(lease(generation), now()));
            // Permission that was revoked meanwhile is checked again.
            while shared.generation.load(SeqCst) == 0 {
                thread::yield_now();
            }
            wake(shared.cell.grant(lease(1), now()));
        });
        let mut seen = [0; 2];
        while seen != [2, 1] {
            let portion = shared.read().expect("nobody ends it");
            for key in portion.keys.iter().map(|key| usize::from(*key)) {
                seen[key] = shared.versions[key].load(SeqCst);
            }
        }
        application.join().unwrap();
        keeper.join().unwrap();
    });
}

#[test]
fn nothing_that_changes_after_a_revocation_is_told_without_permission() {
    check(|| {
        let shared = Shared::acknowledged();
        let application = spawn(&shared, |shared| {
            shared.change(0);
            shared.generation.fetch_add(1, SeqCst);
            shared.change(1);
            shared.end(EndReason::Denied);
        });
        let (mut told, mut results) = (Vec::new(), 0);
        while let Some(portion) = shared.read() {
            assert_eq!(results, 0, "after the result");
            results += usize::from(portion.result);
            told.extend(portion.keys);
        }
        assert_eq!(results, 1);
        assert!(told.iter().all(|key| *key == 0), "told after the fence: {told:?}");
        application.join().unwrap();
    });
}

#[test]
fn a_stream_ends_once_whoever_ends_it() {
    check(|| {
        let shared = Shared::acknowledged();
        let ends = Arc::new(AtomicUsize::new(0));
        let spawn = |act: fn(&Shared) -> bool| {
            let ends = Arc::clone(&ends);
            spawn(&shared, move |shared| {
                ends.fetch_add(usize::from(act(shared)), SeqCst);
            })
        };
        let threads = [
            spawn(|shared| {
                shared.end(EndReason::ShuttingDown);
                false
            }),
            spawn(|shared| shared.cell.cut(EndReason::ClientGone).is_some()),
            spawn(|shared| {
                let tick = shared.cell.tick(later(), &times());
                wake(tick.wake);
                assert!(tick.cut.is_none() || tick.next.is_none());
                tick.cut.is_some()
            }),
            spawn(|shared| {
                let mut cx = Context::from_waker(Waker::noop());
                let polled = shared.cell.poll(&mut cx, || (now(), 0), 1, |_| 1);
                matches!(polled, Poll::Ready(Some(portion)) if portion.result)
            }),
        ];
        shared.change(0);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(ends.load(SeqCst), 1, "ends that were accounted for");
        assert!(shared.cell.has_ended() && shared.cell.reason().is_some());
    });
}

#[test]
fn a_sleeping_reader_hears_of_the_end() {
    check(|| {
        let shared = Shared::new();
        let publisher = spawn(&shared, |shared| shared.change(0));
        let ender = spawn(&shared, |shared| shared.end(EndReason::Lifetime));
        let (mut acknowledgements, mut results) = (0, 0);
        while let Some(portion) = shared.read() {
            assert_eq!(results, 0, "after the result");
            acknowledgements += usize::from(portion.acknowledgement);
            results += usize::from(portion.result);
            assert_eq!(acknowledgements, 1, "first, and once");
        }
        assert_eq!(results, 1);
        publisher.join().unwrap();
        ender.join().unwrap();
    });
}
