//! The places among the running handlers, and the queue in front of them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bounds how many handlers run and how many requests wait to.
#[derive(Debug)]
pub(crate) struct Gate {
    places: Arc<Semaphore>,
    capacity: usize,
    queue: usize,
    waiting: AtomicUsize,
}

/// Both the places and the queue are full.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Gate {
    pub(crate) fn new(capacity: usize, queue: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(capacity)), capacity, queue, waiting: AtomicUsize::new(0) }
    }

    /// A place, held until it is dropped; waits in line for it if there is room to wait.
    pub(crate) async fn enter(&self) -> Result<OwnedSemaphorePermit, Full> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        if self.waiting.fetch_add(1, Relaxed) >= self.queue {
            self.waiting.fetch_sub(1, Relaxed);
            return Err(Full);
        }
        let _waiting = Waiting(&self.waiting);
        Arc::clone(&self.places).acquire_owned().await.map_err(|_| Full)
    }

    /// How many handlers run.
    pub(crate) fn running(&self) -> usize {
        self.capacity.saturating_sub(self.places.available_permits())
    }

    /// How many requests wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Relaxed)
    }

    /// Waits until nothing runs or waits; meant for when nothing new is admitted.
    pub(crate) async fn drained(&self) {
        let all = u32::try_from(self.capacity).unwrap_or(u32::MAX);
        // The semaphore is fair: whoever waits in line goes first.
        let _ = self.places.acquire_many(all).await;
    }
}

/// One request in the queue, until it is dropped.
struct Waiting<'g>(&'g AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, task::Context};

    use super::*;

    #[tokio::test]
    async fn the_queue_is_bounded_and_first_come_first_served() {
        let gate = Gate::new(1, 2);
        let running = gate.enter().await.unwrap();
        let (mut first, mut second) = (pin!(gate.enter()), pin!(gate.enter()));
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(first.as_mut().poll(&mut cx).is_pending());
        assert!(second.as_mut().poll(&mut cx).is_pending());
        assert_eq!(gate.enter().await.err(), Some(Full));
        assert_eq!((gate.running(), gate.waiting()), (1, 2));
        drop(running);
        assert!(second.as_mut().poll(&mut cx).is_pending());
        let place = first.await.unwrap();
        assert_eq!((gate.running(), gate.waiting()), (1, 1));
        drop(place);
        drop(second.await.unwrap());
        assert_eq!((gate.running(), gate.waiting()), (0, 0));
        gate.drained().await;
    }

    #[tokio::test]
    async fn leaving_the_queue_frees_its_place() {
        let gate = Gate::new(1, 1);
        let _running = gate.enter().await.unwrap();
        {
            let mut gone = Box::pin(gate.enter());
            assert!(gone.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_pending());
        }
        assert_eq!(gate.waiting(), 0);
    }
}
