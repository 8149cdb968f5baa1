//! The one task that looks after all streams: what is due, and whose permission has to be renewed.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering::SeqCst},
    task::Waker,
};

use tokio::{
    task::{JoinError, JoinSet},
    time::{Instant, sleep_until},
};

use super::{
    authorizer::{AuthorizerChoice, DynAuthorizer, Grant},
    check::renewed,
    end::EndReason,
    hub::Hub,
    looks::Looks,
    selection::Selection,
    stream::{Stream, lease},
};
use crate::protocol::Revision;

/// How many streams are looked at before others get the lock.
const BATCH: usize = 256;

/// Starts the task. It ends with the last stream.
pub(super) fn start(hub: Arc<Hub>) {
    tokio::spawn(async move {
        Keeper { hub, checks: Checks::default(), looks: Looks::default(), retired: false }.run().await
    });
}

struct Keeper {
    hub: Arc<Hub>,
    checks: Checks,
    looks: Looks,
    /// It ended by itself, and said so.
    retired: bool,
}

/// Renewals that are under way.
#[derive(Default)]
struct Checks {
    running: JoinSet<(CheckId, Result<Grant, EndReason>)>,
    waiting: HashMap<CheckId, Waiting>,
    last: u64,
    /// Checks that others of the same caller may share.
    shared: HashMap<Shared, CheckId>,
}

type CheckId = u64;

/// Who waits for a check.
struct Waiting {
    streams: Vec<(usize, Arc<Stream>)>,
    generation: u64,
    shared: Option<Shared>,
}

/// Streams for which an authorizer is asked the same: of one identified caller, about the same, after the same. What
/// admission kept with the caller counts: claims of two tokens may differ.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shared {
    generation: u64,
    endpoint: usize,
    caller: Arc<str>,
    evidence: Option<usize>,
    revision: Revision,
    selection: Arc<Selection>,
    context: Option<usize>,
}

impl Shared {
    fn of(stream: &Stream, generation: u64) -> Option<Self> {
        let context = stream.context().map(|context| Arc::as_ptr(&context).cast::<()>() as usize);
        Some(Self {
            generation,
            endpoint: stream.endpoint,
            caller: Arc::clone(stream.caller.shared_id()?),
            evidence: stream.caller.evidence(),
            revision: stream.revision,
            selection: Arc::clone(&stream.selection),
            context,
        })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // If its runtime ends under it, the next stream starts another one.
        if !self.retired {
            self.hub.lock().kept = false;
        }
    }
}

impl Keeper {
    async fn run(mut self) {
        loop {
            self.reconcile();
            self.attend_due().await;
            self.start_checks();
            self.looks.start(&self.hub);
            let (next, idle) = {
                let directory = self.hub.lock();
                (directory.next_due(), directory.streams.is_empty())
            };
            if idle && self.checks.waiting.is_empty() {
                let mut directory = self.hub.lock();
                if directory.streams.is_empty() {
                    // Under the lock, so that a stream that comes now starts another keeper.
                    directory.kept = false;
                    self.retired = true;
                    return;
                }
                continue;
            }
            tokio::select! {
                () = self.hub.alarm.notified() => {}
                () = sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
                Some(done) = self.checks.running.join_next() => self.settle(done),
                Some(look) = self.looks.running.join_next() => self.looks.settle(&self.hub, look),
            }
        }
    }

    /// All permissions were revoked: all are to be checked, the one that would end first in front.
    fn reconcile(&self) {
        if !std::mem::take(&mut self.hub.lock().reconciling) {
            return;
        }
        let (now, generation) = (Instant::now(), self.hub.generation.load(SeqCst));
        self.hub.for_each(|number, stream| {
            if stream.cell.generation() != generation && stream.cell.begin_check() {
                let by = stream.cell.permitted_until().unwrap_or(stream.times.lifetime_ends);
                self.hub.lock().queue_check(number, stream, by.max(now));
            }
        });
    }

    async fn attend_due(&self) {
        loop {
            let due = self.hub.lock().take_due(Instant::now(), BATCH);
            for (number, stream) in &due {
                self.hub.attend(*number, stream);
            }
            if due.len() < BATCH {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    fn start_checks(&mut self) {
        let hub = Arc::clone(&self.hub);
        let AuthorizerChoice::Custom(authorizer) = &hub.authorizer else { return };
        while self.checks.running.len() < hub.bounds.checks {
            let Some((number, stream)) = hub.lock().next_check() else { return };
            self.start_check(authorizer, number, stream);
        }
    }

    fn start_check(&mut self, authorizer: &Arc<dyn DynAuthorizer>, number: usize, stream: Arc<Stream>) {
        let generation = self.hub.generation.load(SeqCst);
        let shared = Shared::of(&stream, generation);
        let checks = &mut self.checks;
        if let Some(waiting) =
            shared.as_ref().and_then(|shared| checks.waiting.get_mut(checks.shared.get(shared)?))
        {
            waiting.streams.push((number, stream));
            return;
        }
        checks.last += 1;
        let id = checks.last;
        if let Some(shared) = &shared {
            checks.shared.insert(shared.clone(), id);
        }
        let check =
            renewed(Arc::clone(authorizer), Arc::clone(&stream), self.hub.bounds.authorization_timeout);
        checks.running.spawn(async move { (id, check.await) });
        checks.waiting.insert(id, Waiting { streams: vec![(number, stream)], generation, shared });
    }

    fn settle(&mut self, done: Result<(CheckId, Result<Grant, EndReason>), JoinError>) {
        // Checks catch their own panics; one that is aborted belongs to a runtime that ends.
        let Ok((id, outcome)) = done else { return };
        let Some(waiting) = self.checks.waiting.remove(&id) else { return };
        if let Some(shared) = &waiting.shared {
            self.checks.shared.remove(shared);
        }
        for (number, stream) in waiting.streams {
            match &outcome {
                Ok(grant) => self.grant(number, &stream, grant, waiting.generation),
                Err(reason) => self.hub.end(number, &stream, *reason),
            }
        }
    }

    fn grant(&self, number: usize, stream: &Arc<Stream>, grant: &Grant, generation: u64) {
        let now = Instant::now();
        if grant.lasting.is_zero() {
            return self.hub.end(number, stream, EndReason::Denied);
        }
        if generation != self.hub.generation.load(SeqCst) {
            // Revoked while it was being granted: once more, still fenced.
            self.hub.lock().queue_check(number, stream, now);
            return;
        }
        let old = stream.set_context(grant.context.clone());
        let unchanged = match (&old, &grant.context) {
            (None, None) => true,
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            _ => false,
        };
        if stream.seen.is_some() && !(unchanged && stream.cell.generation() == generation) {
            self.hub.lock().queue_view(number, stream);
        }
        let lasting = grant.lasting.min(self.hub.bounds.max_lease);
        let lease = lease(lasting, generation, now, stream.times.lifetime_ends, stream.turn);
        let reader = stream.cell.grant(lease, now);
        self.hub.attend(number, stream);
        reader.into_iter().for_each(Waker::wake);
    }
}
