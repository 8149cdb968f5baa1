//! What a test sees of a handler, and how it leads it.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

/// Shared between a test and its handlers, as `State<Probe>`: handlers note what they do, and wait for permission.
#[derive(Clone, Debug)]
pub struct Probe {
    notes: Arc<watch::Sender<Vec<String>>>,
    permits: Arc<Semaphore>,
}

impl Default for Probe {
    fn default() -> Self {
        Self::new()
    }
}

impl Probe {
    /// Nothing noted, nothing permitted.
    #[must_use]
    pub fn new() -> Self {
        Self { notes: Arc::new(watch::Sender::default()), permits: Arc::new(Semaphore::new(0)) }
    }

    /// Notes something.
    pub fn note(&self, what: impl Into<String>) {
        self.notes.send_modify(|notes| notes.push(what.into()));
    }

    /// Notes something when the value is dropped.
    #[must_use]
    pub fn note_on_drop(&self, what: &'static str) -> impl Drop + Send + use<> {
        struct OnDrop(Probe, &'static str);
        impl Drop for OnDrop {
            fn drop(&mut self) {
                self.0.note(self.1);
            }
        }
        OnDrop(self.clone(), what)
    }

    /// What was noted so far.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.notes.borrow().clone()
    }

    /// Whether something was noted.
    #[must_use]
    pub fn has(&self, what: &str) -> bool {
        self.notes.borrow().iter().any(|note| note == what)
    }

    /// Waits until something is noted.
    ///
    /// # Panics
    /// If it is not within two minutes, paused or not.
    pub async fn noted(&self, what: &str) {
        self.counted(what, 1).await;
    }

    /// Waits until something is noted so many times.
    ///
    /// # Panics
    /// If it is not within two minutes, paused or not.
    pub async fn counted(&self, what: &str, times: usize) {
        let mut notes = self.notes.subscribe();
        let enough = |notes: &Vec<String>| notes.iter().filter(|note| *note == what).count() >= times;
        let wait = tokio::time::timeout(crate::seconds(120), notes.wait_for(enough));
        assert!(wait.await.is_ok(), "never noted: {what}, but {:?}", self.notes());
    }

    /// Lets one waiting handler go on, now or later.
    pub fn permit(&self) {
        self.permits.add_permits(1);
    }

    /// Waits for a [`permit`](Self::permit).
    pub async fn permitted(&self) {
        if let Ok(permit) = self.permits.acquire().await {
            permit.forget();
        }
    }
}
