//! States that may be used once.

use std::{
    collections::{BTreeSet, HashSet},
    fmt,
    future::Future,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use super::{claims::StateId, clock::Clock, protector::ProtectorError};

/// Consumes each state once.
///
/// A sealed state is bound to its request, its caller and a few minutes, within which a client may send it as often as
/// it likes. Where a second time must not be, such as for a redemption, the server has to remember what was used
/// (specification: `basic/patterns/mrtr`, server requirements 6), for all servers of a fleet in one place. A Redis
/// `SET id 1 NX PXAT expires` does.
///
/// A state counts as used as soon as it is presented: a retry whose answer is lost can't be sent again.
pub trait SingleUse: Send + Sync + 'static {
    /// Whether this is the first time for this id; it stays used until `expires`, when its state is refused anyway.
    ///
    /// # Errors
    /// If that can't be found out; the state then is not accepted, and the client hears that the server can't answer.
    fn consume(
        &self,
        id: &StateId,
        expires: SystemTime,
    ) -> impl Future<Output = Result<bool, ProtectorError>> + Send;
}

/// A [`SingleUse`] whose type is forgotten.
pub(crate) trait DynSingleUse: Send + Sync {
    fn consume<'a>(
        &'a self,
        id: &'a StateId,
        expires: SystemTime,
    ) -> Pin<Box<dyn Future<Output = Result<bool, ProtectorError>> + Send + 'a>>;
}

impl<S: SingleUse> DynSingleUse for S {
    fn consume<'a>(
        &'a self,
        id: &'a StateId,
        expires: SystemTime,
    ) -> Pin<Box<dyn Future<Output = Result<bool, ProtectorError>> + Send + 'a>> {
        Box::pin(SingleUse::consume(self, id, expires))
    }
}

/// Remembers the used states of one process.
///
/// It never forgets one that has not expired: when it is full, it lets none pass until one has.
pub struct InMemorySingleUse {
    capacity: usize,
    clock: Clock,
    used: Mutex<Used>,
}

#[derive(Default)]
struct Used {
    ids: HashSet<StateId>,
    by_expiry: BTreeSet<(SystemTime, StateId)>,
    /// The latest expiry of all that was forgotten: what expires no later may have been used.
    forgotten: Option<SystemTime>,
}

impl InMemorySingleUse {
    /// Remembers so many ids at once, at about 100 bytes each. It takes as many as states are used within their
    /// lifetime.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity, clock: Clock::start(), used: Mutex::default() }
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        // What is changed under the lock can't panic half way.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Used {
    fn forget_expired(&mut self, now: SystemTime) {
        while let Some(&(expires, id)) = self.by_expiry.first()
            && expires <= now
        {
            self.by_expiry.pop_first();
            self.ids.remove(&id);
            self.forgotten = self.forgotten.max(Some(expires));
        }
    }
}

impl SingleUse for InMemorySingleUse {
    async fn consume(&self, id: &StateId, expires: SystemTime) -> Result<bool, ProtectorError> {
        let now = self.clock.now();
        let mut used = self.used();
        used.forget_expired(now);
        // The sealer's clock was started at another time, and may be behind: its states may outlive their memory here.
        if used.forgotten >= Some(expires) || used.ids.contains(id) {
            return Ok(false);
        }
        if used.ids.len() >= self.capacity {
            return Err(ProtectorError::Unavailable(
                "too many states have been used to remember more".into(),
            ));
        }
        used.ids.insert(*id);
        used.by_expiry.insert((expires, *id));
        Ok(true)
    }
}

impl fmt::Debug for InMemorySingleUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemorySingleUse")
            .field("capacity", &self.capacity)
            .field("used", &self.used().ids.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    async fn consume(memory: &InMemorySingleUse, id: u8, expires: SystemTime) -> Option<bool> {
        SingleUse::consume(memory, &StateId([id; 16]), expires).await.ok()
    }

    #[tokio::test(start_paused = true)]
    async fn an_id_is_consumed_once_until_it_expires_and_after() {
        let memory = InMemorySingleUse::new(9);
        let expires = memory.clock.now() + MINUTE;
        assert_eq!(consume(&memory, 1, expires).await, Some(true));
        assert_eq!(consume(&memory, 2, expires + MINUTE).await, Some(true));
        assert_eq!(consume(&memory, 1, expires).await, Some(false));
        // Not even by naming another expiry.
        assert_eq!(consume(&memory, 1, expires + MINUTE).await, Some(false));
        tokio::time::advance(3 * MINUTE).await;
        assert_eq!(consume(&memory, 3, expires + 9 * MINUTE).await, Some(true));
        assert_eq!(memory.used().ids.len(), 1);
        // Those are forgotten, and whatever is as old has to be taken for used.
        assert_eq!(consume(&memory, 1, expires).await, Some(false));
        assert_eq!(consume(&memory, 2, expires + MINUTE).await, Some(false));
        assert_eq!(format!("{memory:?}"), "InMemorySingleUse { capacity: 9, used: 1 }");
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_memory_lets_none_pass_until_one_has_expired() {
        let memory = InMemorySingleUse::new(2);
        let expires = memory.clock.now() + MINUTE;
        assert_eq!(consume(&memory, 1, expires).await, Some(true));
        assert_eq!(consume(&memory, 2, expires + MINUTE).await, Some(true));
        assert_eq!(consume(&memory, 3, expires + MINUTE).await, None);
        assert_eq!(consume(&memory, 2, expires + MINUTE).await, Some(false));
        tokio::time::advance(MINUTE + MINUTE / 2).await;
        assert_eq!(consume(&memory, 3, expires + MINUTE).await, Some(true));
        assert_eq!(consume(&memory, 4, expires + MINUTE).await, None);
    }

    #[test]
    fn of_many_who_come_at_once_one_is_the_first() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let memory = InMemorySingleUse::new(9);
        let expires = memory.clock.now() + MINUTE;
        let first = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| runtime.handle().block_on(consume(&memory, 1, expires))))
                .collect();
            threads.into_iter().filter_map(|thread| thread.join().unwrap()).filter(|&first| first).count()
        });
        assert_eq!(first, 1);
    }
}
