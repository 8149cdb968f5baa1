//! A connection with watchers beside it, which cost nothing while they have nothing to say.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
};

/// What came first.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum First<C, W> {
    Connection(C),
    Watcher(W),
}

/// Waits for a connection, or for its watcher. Unlike with `select!`, the watcher is not polled each time the
/// connection is: it has a waker of its own.
pub(super) async fn watched<C: Future, W: Future>(
    mut connection: Pin<&mut C>,
    mut watcher: Pin<&mut W>,
) -> First<C::Output, W::Output> {
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    std::future::poll_fn(|cx| {
        bell.listen(cx.waker());
        if bell.rung.swap(false, SeqCst)
            && let Poll::Ready(said) = watcher.as_mut().poll(&mut Context::from_waker(&waker))
        {
            return Poll::Ready(First::Watcher(said));
        }
        connection.as_mut().poll(cx).map(First::Connection)
    })
    .await
}

/// Wakes the connection's task, and says that it was the watcher.
#[derive(Debug)]
struct Bell {
    rung: AtomicBool,
    task: Mutex<Option<Waker>>,
}

impl Default for Bell {
    fn default() -> Self {
        // A watcher has to be polled once, to begin with.
        Self { rung: AtomicBool::new(true), task: Mutex::new(None) }
    }
}

impl Bell {
    fn listen(&self, waker: &Waker) {
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if !task.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *task = Some(waker.clone());
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, SeqCst);
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(task) = task {
            task.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, sync::atomic::AtomicUsize, time::Duration};

    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_watcher_is_heard_and_not_asked_in_between() {
        let asked = AtomicUsize::new(0);
        let mut alarm = pin!(sleep(Duration::from_secs(60)));
        let mut watcher = pin!(std::future::poll_fn(|cx| {
            asked.fetch_add(1, SeqCst);
            alarm.as_mut().poll(cx)
        }));
        let mut connection = pin!(async {
            loop {
                sleep(Duration::from_secs(1)).await;
            }
        });
        let began = Instant::now();
        let first: First<(), ()> = watched(connection.as_mut(), watcher.as_mut()).await;
        assert_eq!(first, First::Watcher(()));
        assert_eq!(began.elapsed(), Duration::from_secs(60));
        assert_eq!(asked.load(SeqCst), 2);
    }

    #[tokio::test]
    async fn a_connection_that_ends_is_first() {
        let (mut connection, mut watcher) = (pin!(async { 7 }), pin!(std::future::pending::<()>()));
        assert_eq!(watched(connection.as_mut(), watcher.as_mut()).await, First::Connection(7));
    }
}
