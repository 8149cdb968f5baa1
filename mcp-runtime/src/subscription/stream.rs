//! One subscription: its state with all that it is about, and the end that its client reads.

use std::{
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::SeqCst},
    task::{Context as TaskContext, Poll, ready},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    authorizer::{Context, SubscriptionCheck},
    cell::{Cell, Lease, Portion, Times},
    change::{ChangeKind, ResourceUri},
    end::EndReason,
    hub::Hub,
    selection::Selection,
    views::{Seen, Viewer},
};
use crate::{
    handler::{Caller, EndpointInfo, Framing},
    protocol::{
        RequestId, Revision, write_acknowledged, write_list_changed, write_listen_result,
        write_resource_updated,
    },
};

/// The lists come first among a stream's keys, each with its part of the method.
const LISTS: [(ChangeKind, &str); 3] =
    [(ChangeKind::Tools, "tools"), (ChangeKind::Prompts, "prompts"), (ChangeKind::Resources, "resources")];
/// With so many bytes in one chunk the next keys wait: a client may have thousands of large ones.
const CHUNK_BYTES: usize = 64 << 10;
/// What a notification has beside its URI and id.
const FRAME_BYTES: usize = 192;

/// A stream, as publishers, the keeper and its client share it.
pub(super) struct Stream {
    pub(super) cell: Cell,
    pub(super) times: Times,
    pub(super) id: RequestId,
    pub(super) framing: Framing,
    /// The endpoint's place among those of the server.
    pub(super) endpoint: usize,
    pub(super) info: Arc<EndpointInfo>,
    pub(super) revision: Revision,
    pub(super) caller: Caller,
    pub(super) selection: Arc<Selection>,
    pub(super) context: Mutex<Option<Context>>,
    /// Where its renewals lie within its leases; see [`spread`].
    pub(super) turn: u64,
    /// What its client knows of lists that differ from caller to caller.
    pub(super) seen: Option<Box<Seen>>,
}

impl Stream {
    /// Where a list stands among the keys.
    pub(super) fn list_key(kind: ChangeKind) -> u16 {
        LISTS.iter().position(|(list, _)| *list == kind).map_or(0, |at| at as u16)
    }

    /// Whether a key stands for a list.
    pub(super) fn is_list(key: u16) -> bool {
        usize::from(key) < LISTS.len()
    }

    /// Where a resource stands among the keys.
    pub(super) fn uri_key(position: usize) -> u16 {
        (LISTS.len() + position) as u16
    }

    /// How many keys a stream with a selection has.
    pub(super) fn keys(selection: &Selection) -> usize {
        LISTS.len() + selection.uris().len()
    }

    /// All keys that it listens to.
    pub(super) fn own_keys(&self) -> impl Iterator<Item = u16> {
        let lists = LISTS.iter().map(|(kind, _)| *kind).filter(|kind| self.selection.has(*kind));
        lists.map(Self::list_key).chain((0..self.selection.uris().len()).map(Self::uri_key))
    }

    /// The resource that a key stands for; only for keys that are no lists.
    pub(super) fn uri(&self, key: u16) -> &ResourceUri {
        self.selection.uri(usize::from(key) - LISTS.len())
    }

    pub(super) fn context(&self) -> Option<Context> {
        self.context.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the context that it had.
    pub(super) fn set_context(&self, context: Option<Context>) -> Option<Context> {
        std::mem::replace(&mut *self.context.lock().unwrap_or_else(PoisonError::into_inner), context)
    }

    /// What its authorizer goes by when its permission is renewed.
    pub(super) fn check<'c>(&'c self, context: Option<&'c Context>) -> SubscriptionCheck<'c> {
        SubscriptionCheck {
            caller: &self.caller,
            endpoint: &self.info,
            revision: self.revision,
            selection: &self.selection,
            context,
            request: None,
        }
    }

    /// Whose view of the lists it tells about.
    pub(super) fn viewer(&self) -> Viewer<'_> {
        Viewer { endpoint: self.endpoint, caller: &self.caller, revision: self.revision }
    }

    fn size(&self, key: u16) -> usize {
        let uri = usize::from(key).checked_sub(LISTS.len()).map(|position| self.selection.spelling(position));
        FRAME_BYTES + uri.map_or(0, str::len)
    }

    /// The frames of what it has to say.
    fn write(&self, portion: &Portion) -> Vec<u8> {
        let mut out = Vec::with_capacity(portion.keys.iter().map(|key| self.size(*key)).sum::<usize>() + 64);
        let mut frame = |write: &mut dyn FnMut(&mut Vec<u8>)| self.framing.write(&mut out, |out| write(out));
        if portion.acknowledgement {
            frame(&mut |out| write_acknowledged(out, &self.id, &self.selection.filter()));
        }
        for key in &portion.keys {
            let key = usize::from(*key);
            frame(&mut |out| match LISTS.get(key) {
                Some((_, list)) => write_list_changed(out, &self.id, list),
                None => {
                    write_resource_updated(out, &self.id, self.selection.spelling(key - LISTS.len()));
                }
            });
        }
        if portion.result {
            frame(&mut |out| write_listen_result(out, &self.id));
        }
        if portion.keep_alive {
            self.framing.write_comment(&mut out);
        }
        out
    }
}

/// A part of a lease, between 0 and 1, for each number: neighbours lie far apart, and all numbers together evenly, so
/// that streams that were opened at once are not renewed at once.
pub(super) fn spread(number: u64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    (number as f64 * GOLDEN).fract()
}

/// An acknowledged subscription in the hands of its transport. Dropping it is how its client goes away.
pub(crate) struct Subscription {
    pub(super) hub: Arc<Hub>,
    pub(super) stream: Arc<Stream>,
    pub(super) number: usize,
}

impl Subscription {
    /// All frames that are ready; `None` at the end.
    pub(crate) fn poll_chunk(&self, cx: &mut TaskContext<'_>) -> Poll<Option<Vec<u8>>> {
        let Self { hub, stream, .. } = self;
        let moment = || (Instant::now(), hub.generation.load(SeqCst));
        let Some(portion) = ready!(stream.cell.poll(cx, moment, CHUNK_BYTES, |key| stream.size(key))) else {
            return Poll::Ready(None);
        };
        if let Some(seen) = &stream.seen {
            // What is acknowledged is fetched after it, so all there is then counts as told.
            let lists = 0..LISTS.len();
            let told = |list: &usize| portion.acknowledgement || portion.keys.contains(&(*list as u16));
            lists.filter(told).for_each(|list| seen.tell(list));
        }
        if portion.result {
            self.over();
        }
        Poll::Ready(Some(stream.write(&portion)))
    }

    /// The frame of its result, for a transport that outlives a stream that was given up.
    pub(crate) fn result(&self) -> Vec<u8> {
        self.stream.write(&Portion { result: true, ..Portion::default() })
    }

    /// Whether the last chunk has been taken.
    pub(crate) fn is_finished(&self) -> bool {
        self.stream.cell.has_ended()
    }

    /// Why it has ended, or is about to.
    pub(crate) fn reason(&self) -> Option<EndReason> {
        self.stream.cell.reason()
    }

    /// The id of its request.
    pub(crate) fn id(&self) -> &RequestId {
        &self.stream.id
    }

    /// Ends it from the server's side: its result is the next chunk.
    pub(crate) fn end(&self, reason: EndReason) {
        if let Some(reader) = self.stream.cell.end(reason, Instant::now()) {
            reader.wake();
        }
    }

    /// Ends it at once: nobody will read its result.
    pub(crate) fn cut(&self, reason: EndReason) {
        if let Some(reason) = self.stream.cell.cut(reason) {
            self.hub.remove(self.number, &self.stream, reason);
        }
    }

    fn over(&self) {
        if let Some(reason) = self.stream.cell.reason() {
            self.hub.remove(self.number, &self.stream, reason);
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.cut(EndReason::ClientGone);
    }
}

/// For how long a permission holds: at most until the stream's own end, which needs no renewal.
pub(super) fn lease(
    lasting: Duration,
    generation: u64,
    now: Instant,
    lifetime_ends: Instant,
    turn: u64,
) -> Lease {
    /// A check so soon after the last one would find nothing new.
    const SHORTEST: Duration = Duration::from_millis(100);
    let until = now + lasting;
    if until >= lifetime_ends {
        return Lease { generation, until: None, renew_at: None };
    }
    let ahead = lasting.mul_f64(0.5 + 0.3 * spread(turn));
    Lease { generation, until: Some(until), renew_at: (ahead >= SHORTEST).then(|| now + ahead) }
}
