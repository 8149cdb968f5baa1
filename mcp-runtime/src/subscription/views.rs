//! Lists that differ from caller to caller: a stream is told of a change only if its caller can see it.

use std::{
    future::Future,
    pin::Pin,
    sync::{Mutex, PoisonError},
};

use super::publisher::BoxError;
use crate::{handler::Caller, protocol::Revision};

/// A short form of what a caller sees of each list, in the order of a stream's keys: tools, prompts, resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Digests(pub [u64; 3]);

/// Who looks, and at which endpoint.
#[derive(Clone, Copy)]
pub(crate) struct Viewer<'v> {
    pub endpoint: usize,
    pub caller: &'v Caller,
    pub revision: Revision,
}

/// The future of digests.
pub(crate) type Digesting<'a> = Pin<Box<dyn Future<Output = Result<Digests, BoxError>> + Send + 'a>>;

/// Knows what callers see.
pub(crate) trait Views: Send + Sync {
    /// What a caller sees now.
    fn digests<'a>(&'a self, viewer: Viewer<'a>) -> Digesting<'a>;
}

/// What a stream's client was told of, and what it would see now.
#[derive(Debug, Default)]
pub(super) struct Seen(Mutex<Told>);

#[derive(Clone, Copy, Debug, Default)]
struct Told {
    told: Digests,
    now: Digests,
}

impl Seen {
    /// What the client sees when the stream is opened: it fetches after the acknowledgement.
    pub(super) fn new(digests: Digests) -> Self {
        Self(Mutex::new(Told { told: digests, now: digests }))
    }

    /// Sets what the client would see. Returns for each list whether that is news to it.
    pub(super) fn update(&self, now: Digests) -> [bool; 3] {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.now = now;
        std::array::from_fn(|list| seen.told.0[list] != now.0[list])
    }

    /// The change of a list is being told: what is there now counts as known.
    pub(super) fn tell(&self, list: usize) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if list < 3 {
            seen.told.0[list] = seen.now.0[list];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(tools: u64) -> Digests {
        Digests([tools, 0, 0])
    }

    #[test]
    fn only_what_differs_from_what_was_told_is_news() {
        let seen = Seen::new(digests(1));
        assert_eq!(seen.update(digests(1)), [false; 3]);
        assert_eq!(seen.update(digests(2)), [true, false, false]);
        assert_eq!(seen.update(digests(1)), [false; 3], "back before it was told");
        assert_eq!(seen.update(digests(2)), [true, false, false]);
        seen.tell(0);
        assert_eq!(seen.update(digests(2)), [false; 3]);
        assert_eq!(seen.update(digests(1)), [true, false, false], "back after it was told");
    }
}
