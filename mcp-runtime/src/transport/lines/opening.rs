//! `initialize` decides how the requests behind it are read.

use std::sync::Arc;

use tokio::sync::watch;

/// Keeps the requests that follow an `initialize` until that is answered, for clients that don't wait for it.
#[derive(Debug, Default)]
pub(super) struct Opening(watch::Sender<usize>);

/// An `initialize` that is not answered yet.
#[derive(Debug)]
pub(super) struct Opens(Arc<Opening>);

impl Opening {
    /// Takes an `initialize` in its turn.
    pub(super) fn begin(self: &Arc<Self>) -> Opens {
        self.0.send_modify(|open| *open += 1);
        Opens(Arc::clone(self))
    }

    /// Waits until every `initialize` that came before is answered, or given up.
    pub(super) async fn done(&self) {
        // The sender is alive.
        let _ = self.0.subscribe().wait_for(|open| *open == 0).await;
    }
}

impl Drop for Opens {
    fn drop(&mut self) {
        self.0.0.send_modify(|open| *open -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[tokio::test]
    async fn requests_wait_for_every_initialize_before_them() {
        let opening = Arc::new(Opening::default());
        opening.done().await;
        let (first, second) = (opening.begin(), opening.begin());
        let mut waiting = Box::pin(opening.done());
        let mut poll = || waiting.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll().is_pending());
        drop(first);
        assert!(poll().is_pending());
        drop(second);
        assert_eq!(poll(), Poll::Ready(()));
    }
}
