//! A state between rounds that is the application's own.

use std::{fmt, sync::Arc};

use super::Asking;

/// The `requestState` of a handler that looks after it itself, instead of having the framework seal it.
///
/// Taken as a parameter beside [`Ask`](super::Ask). What comes back is whatever a client sends: trust it no more than an
/// argument. The framework remembers nothing then: each round has only the answers that came with it, whatever was
/// asked, and [`keep`](super::Ask::keep) is not available. A handler of one round that never sets it works without a
/// state.
#[derive(Clone)]
pub struct RequestState(Arc<Asking>);

impl RequestState {
    pub(in crate::handler) fn new(asking: Arc<Asking>) -> Self {
        Self(asking)
    }

    /// What the client sent back; `None` in the first round.
    #[must_use]
    pub fn get(&self) -> Option<&str> {
        self.0.own_state()
    }

    /// Sets what the client is given with what is asked in this round, to send back; at most
    /// [`max_request_state_bytes`](crate::Limits::max_request_state_bytes).
    pub fn set(&self, state: impl Into<String>) {
        self.0.set_own_state(state.into());
    }
}

impl fmt::Debug for RequestState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestState").finish_non_exhaustive()
    }
}
