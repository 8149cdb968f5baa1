//! The requests of a connection that are not answered yet.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    handler::{CancellationReason, CancellationToken},
    protocol::RequestId,
};

/// Requests by their id.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<HashMap<RequestId, CancellationToken>>);

/// A request that is in flight, until it is dropped.
#[derive(Debug)]
pub(super) struct Ticket {
    in_flight: Arc<InFlight>,
    id: RequestId,
}

impl InFlight {
    /// Adds a request; `None` if its id is taken.
    pub(super) fn enter(self: &Arc<Self>, id: &RequestId, token: &CancellationToken) -> Option<Ticket> {
        match self.lock().entry(id.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(entry) => {
                entry.insert(token.clone());
                Some(Ticket { in_flight: Arc::clone(self), id: id.clone() })
            }
        }
    }

    /// Cancels a request for its client, if it is in flight. Its id stays taken until it is gone.
    pub(super) fn cancel(&self, id: &RequestId) {
        // The lock is not held while callbacks run.
        let token = self.lock().get(id).cloned();
        if let Some(token) = token {
            token.cancel(CancellationReason::ClientCancelled);
        }
    }

    /// Cancels everything.
    pub(super) fn cancel_all(&self, reason: CancellationReason) {
        let tokens: Vec<CancellationToken> = self.lock().values().cloned().collect();
        for token in tokens {
            token.cancel(reason);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.in_flight.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_taken_until_its_ticket_is_dropped() {
        let in_flight = Arc::new(InFlight::default());
        let token = CancellationToken::new();
        let ticket = in_flight.enter(&1.into(), &token).unwrap();
        assert!(in_flight.enter(&1.into(), &token).is_none());
        assert!(in_flight.enter(&"1".into(), &token).is_some(), "a string is another id");
        drop(ticket);
        assert!(in_flight.enter(&1.into(), &token).is_some());
    }

    #[test]
    fn a_cancelled_request_stays_until_it_is_gone() {
        let in_flight = Arc::new(InFlight::default());
        let (token, other) = (CancellationToken::new(), CancellationToken::new());
        let ticket = in_flight.enter(&1.into(), &token);
        let _other = in_flight.enter(&2.into(), &other);
        in_flight.cancel(&1.into());
        in_flight.cancel(&3.into());
        assert_eq!(token.reason(), Some(CancellationReason::ClientCancelled));
        assert!(in_flight.enter(&1.into(), &token).is_none());
        drop(ticket);
        in_flight.cancel_all(CancellationReason::WriteStalled);
        assert_eq!(token.reason(), Some(CancellationReason::ClientCancelled));
        assert_eq!(other.reason(), Some(CancellationReason::WriteStalled));
    }
}
