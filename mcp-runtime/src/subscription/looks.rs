//! Looks at what callers see of lists that may have changed.

use std::{collections::HashMap, sync::Arc, task::Waker};

use tokio::{
    task::{JoinError, JoinSet},
    time::Instant,
};

use super::{check::timely, end::EndReason, hub::Hub, stream::Stream, views::Digests};

/// What a look came to.
pub(super) type Look = (usize, Arc<Stream>, Result<Digests, EndReason>);

/// The looks that are under way: one a stream, so that the last one is the latest.
#[derive(Default)]
pub(super) struct Looks {
    pub(super) running: JoinSet<Look>,
    /// By the number of the stream: whether it has to be looked at once more.
    under_way: HashMap<usize, bool>,
}

impl Looks {
    /// Starts as many as may run at once.
    pub(super) fn start(&mut self, hub: &Hub) {
        let Some(views) = &hub.views else { return };
        while self.running.len() < hub.bounds.checks {
            let Some((number, stream)) = hub.lock().next_view() else { return };
            if let Some(again) = self.under_way.get_mut(&number) {
                *again = true;
                continue;
            }
            self.under_way.insert(number, false);
            let (views, patience) = (Arc::clone(views), hub.bounds.authorization_timeout);
            self.running.spawn(async move {
                let digests = timely("the catalog policy", views.digests(stream.viewer()), patience).await;
                (number, stream, digests)
            });
        }
    }

    /// Tells a stream what its caller sees now, if that is news.
    pub(super) fn settle(&mut self, hub: &Hub, look: Result<Look, JoinError>) {
        // Looks catch the panics of the application; one that is aborted belongs to a runtime that ends.
        let Ok((number, stream, digests)) = look else { return };
        if self.under_way.remove(&number) == Some(true) {
            hub.lock().queue_view_again(number);
        }
        let digests = match digests {
            Ok(digests) => digests,
            Err(reason) => return hub.end(number, &stream, reason),
        };
        let Some(seen) = &stream.seen else { return };
        for (key, is_news) in seen.update(digests).into_iter().enumerate() {
            let key = key as u16;
            if !is_news {
                stream.cell.unmark(key);
            } else if stream.own_keys().any(|own| own == key) {
                stream.cell.mark(key, Instant::now()).into_iter().for_each(Waker::wake);
            }
        }
    }
}
