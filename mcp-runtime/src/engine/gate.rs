//! The places among the running handlers, and the queue in front of them.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use tokio::sync::{Notify, Semaphore};

/// Bounds how many handlers run and how many requests wait to.
#[derive(Debug)]
pub(crate) struct Gate {
    places: Arc<Places>,
    capacity: usize,
    queue: usize,
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct Places {
    free: Semaphore,
    /// Somebody left: a place, or the queue.
    left: Notify,
}

/// Why there is no place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Both the places and the queue are full.
    Full,
    /// None became free in time.
    Closed,
}

impl Gate {
    pub(crate) fn new(capacity: usize, queue: usize) -> Self {
        let places = Places { free: Semaphore::new(capacity), left: Notify::new() };
        Self { places: Arc::new(places), capacity, queue, waiting: AtomicUsize::new(0) }
    }

    /// A place; waits in line for it if there is room to wait, until the gate is `closed`.
    pub(crate) async fn enter(&self, closed: impl Future<Output = ()>) -> Result<Place, Refusal> {
        if let Some(place) = self.try_enter() {
            return Ok(place);
        }
        if self.waiting.fetch_add(1, SeqCst) >= self.queue {
            self.waiting.fetch_sub(1, SeqCst);
            return Err(Refusal::Full);
        }
        let _waiting = Waiting(self);
        let permit = tokio::select! {
            biased;
            () = closed => return Err(Refusal::Closed),
            permit = self.places.free.acquire() => permit.map_err(|_| Refusal::Closed)?,
        };
        permit.forget();
        Ok(Place(Arc::clone(&self.places)))
    }

    /// A place, if one is free and nobody waits for it.
    pub(crate) fn try_enter(&self) -> Option<Place> {
        self.places.free.try_acquire().ok()?.forget();
        Some(Place(Arc::clone(&self.places)))
    }

    /// How many handlers run.
    pub(crate) fn running(&self) -> usize {
        self.capacity.saturating_sub(self.places.free.available_permits())
    }

    /// How many requests wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(SeqCst)
    }

    /// Waits until nothing runs or waits; meant for when nothing new is admitted.
    pub(crate) async fn drained(&self) {
        loop {
            let mut left = pin!(self.places.left.notified());
            left.as_mut().enable();
            if self.running() + self.waiting() == 0 {
                return;
            }
            left.await;
        }
    }
}

/// A place among the running handlers, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place(Arc<Places>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.free.add_permits(1);
        self.0.left.notify_waiters();
    }
}

/// One request in the queue, until it is dropped.
struct Waiting<'g>(&'g Gate);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, SeqCst);
        self.0.places.left.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, task::Context};

    use super::*;

    /// The entrance of a gate that stays open.
    async fn enter(gate: &Gate) -> Result<Place, Refusal> {
        gate.enter(std::future::pending()).await
    }

    #[tokio::test]
    async fn the_queue_is_bounded_and_first_come_first_served() {
        let gate = Gate::new(1, 2);
        let running = enter(&gate).await.unwrap();
        let (mut first, mut second) = (pin!(enter(&gate)), pin!(enter(&gate)));
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(first.as_mut().poll(&mut cx).is_pending());
        assert!(second.as_mut().poll(&mut cx).is_pending());
        assert_eq!(enter(&gate).await.err(), Some(Refusal::Full));
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
        let _running = enter(&gate).await.unwrap();
        {
            let mut gone = Box::pin(enter(&gate));
            assert!(gone.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_pending());
        }
        assert_eq!(gate.waiting(), 0);
    }

    #[tokio::test]
    async fn a_gate_that_closes_sends_the_queue_away_and_takes_no_place() {
        let gate = Gate::new(1, 1);
        let running = enter(&gate).await.unwrap();
        assert_eq!(gate.enter(std::future::ready(())).await.err(), Some(Refusal::Closed));
        assert_eq!((gate.running(), gate.waiting()), (1, 0));
        let mut drained = pin!(gate.drained());
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(drained.as_mut().poll(&mut cx).is_pending());
        assert_eq!(gate.running(), 1, "whoever waits for the end takes no place");
        drop(running);
        drained.await;
    }
}
