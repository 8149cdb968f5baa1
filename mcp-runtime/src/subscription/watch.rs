//! Watching a resource only while somebody listens to it.

use std::{
    any::Any,
    collections::HashMap,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::OnceCell;

use super::{change::ResourceUri, publisher::BoxError};
use crate::handler::panic::{Panic, poll_caught};

/// Called when the first subscriber of a resource comes, so that an application watches a file, a row or a topic only
/// while somebody listens. The watch that it returns is dropped when the last subscriber has gone.
///
/// It is started before the subscription is acknowledged: what the watch sees from then on reaches the client. A
/// resource whose watch can't be started is missing in the acknowledgement.
///
/// ```
/// use mcp_runtime::subscription::{BoxError, ChangePublisher, InMemoryPublisher, ResourceUri, ResourceWatcher};
/// use tokio::task::{JoinSet, spawn};
///
/// /// Looks at a resource once in a while.
/// struct Polling(InMemoryPublisher);
///
/// impl ResourceWatcher for Polling {
///     type Watch = JoinSet<()>; // aborts its tasks when it is dropped
///
///     async fn watch(&self, uri: &ResourceUri) -> Result<Self::Watch, BoxError> {
///         let (publisher, uri) = (self.0.clone(), uri.as_str().to_owned());
///         let mut tasks = JoinSet::new();
///         tasks.spawn(async move {
///             loop {
///                 tokio::time::sleep(std::time::Duration::from_secs(1)).await;
///                 let _ = publisher.resource_updated(&uri);
///             }
///         });
///         Ok(tasks)
///     }
/// }
/// ```
pub trait ResourceWatcher: Send + Sync + 'static {
    /// What ends the watch when it is dropped.
    type Watch: Send + Sync + 'static;

    /// Starts to watch a resource; `uri` is in its normal form.
    ///
    /// # Errors
    /// If it can't be watched.
    fn watch(&self, uri: &ResourceUri) -> impl Future<Output = Result<Self::Watch, BoxError>> + Send;
}

/// A watch, whatever it is.
type AnyWatch = Box<dyn Any + Send + Sync>;

/// A [`ResourceWatcher`] whose type is forgotten.
pub(crate) trait DynWatcher: Send + Sync {
    fn watch<'a>(
        &'a self,
        uri: &'a ResourceUri,
    ) -> Pin<Box<dyn Future<Output = Result<AnyWatch, BoxError>> + Send + 'a>>;
}

impl<W: ResourceWatcher> DynWatcher for W {
    fn watch<'a>(
        &'a self,
        uri: &'a ResourceUri,
    ) -> Pin<Box<dyn Future<Output = Result<AnyWatch, BoxError>> + Send + 'a>> {
        Box::pin(async move { Ok(Box::new(ResourceWatcher::watch(self, uri).await?) as AnyWatch) })
    }
}

/// The watches that are held, by their resources.
pub(super) struct Watches {
    watcher: Arc<dyn DynWatcher>,
    held: Arc<Held>,
}

type Held = Mutex<HashMap<ResourceUri, Weak<Watched>>>;

/// A resource that is watched, until the last holder drops it.
pub(super) struct Watched {
    uri: ResourceUri,
    watch: OnceCell<AnyWatch>,
    held: Arc<Held>,
}

impl Watches {
    pub(super) fn new(watcher: Arc<dyn DynWatcher>) -> Self {
        Self { watcher, held: Arc::default() }
    }

    /// Has a resource watched, if that is possible. Whoever comes while the watch is being started waits for it.
    pub(super) async fn hold(&self, uri: &ResourceUri) -> Option<Arc<Watched>> {
        let watched = self.entry(uri);
        match watched.watch.get_or_try_init(|| self.start(uri)).await {
            Ok(_) => Some(watched),
            Err(error) => {
                tracing::debug!(?uri, error, "a resource can't be watched");
                None
            }
        }
    }

    async fn start(&self, uri: &ResourceUri) -> Result<AnyWatch, BoxError> {
        let mut starting = pin!(async { self.watcher.watch(uri).await });
        match poll_fn(|cx| poll_caught(starting.as_mut(), cx)).await {
            Ok(started) => started,
            Err(Panic(panic)) => Err(format!("the watcher panicked: {panic}").into()),
        }
    }

    fn entry(&self, uri: &ResourceUri) -> Arc<Watched> {
        let mut held = lock(&self.held);
        if let Some(watched) = held.get(uri).and_then(Weak::upgrade) {
            return watched;
        }
        let watched =
            Arc::new(Watched { uri: uri.clone(), watch: OnceCell::new(), held: Arc::clone(&self.held) });
        held.insert(uri.clone(), Arc::downgrade(&watched));
        watched
    }

    /// How many resources are watched.
    pub(super) fn len(&self) -> usize {
        lock(&self.held).len()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut held = lock(&self.held);
        // Another one may have taken its place already.
        if held.get(&self.uri).is_some_and(|entry| entry.strong_count() == 0) {
            held.remove(&self.uri);
        }
        drop(held);
        let watch = self.watch.take();
        if catch_unwind(AssertUnwindSafe(|| drop(watch))).is_err() {
            tracing::error!(uri = ?self.uri, "the end of a watch panicked");
        }
    }
}

fn lock(held: &Held) -> MutexGuard<'_, HashMap<ResourceUri, Weak<Watched>>> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};

    use tokio::{sync::Notify, task::yield_now};

    use super::*;

    #[derive(Clone, Default)]
    struct Counting {
        active: Arc<AtomicI64>,
        started: Arc<AtomicUsize>,
        go: Arc<Notify>,
    }

    struct Active(Arc<AtomicI64>);

    impl Drop for Active {
        fn drop(&mut self) {
            self.0.fetch_sub(1, SeqCst);
        }
    }

    impl ResourceWatcher for Counting {
        type Watch = Active;

        async fn watch(&self, uri: &ResourceUri) -> Result<Active, BoxError> {
            self.started.fetch_add(1, SeqCst);
            if uri.as_str() == "x:slow" {
                self.go.notified().await;
            }
            if uri.as_str() == "x:bad" {
                return Err("no such thing".into());
            }
            self.active.fetch_add(1, SeqCst);
            Ok(Active(Arc::clone(&self.active)))
        }
    }

    fn uri(text: &str) -> ResourceUri {
        ResourceUri::new(text).unwrap()
    }

    #[tokio::test]
    async fn the_first_starts_a_watch_and_the_last_ends_it() {
        let counting = Counting::default();
        let watches = Watches::new(Arc::new(counting.clone()));
        let seen = || (counting.started.load(SeqCst), counting.active.load(SeqCst), watches.len());
        let first = watches.hold(&uri("x:a")).await;
        let second = watches.hold(&uri("X:a")).await;
        let other = watches.hold(&uri("x:b")).await;
        assert_eq!(seen(), (2, 2, 2));
        drop(first);
        drop(other);
        assert_eq!(seen(), (2, 1, 1));
        drop(second);
        assert_eq!(seen(), (2, 0, 0));
        let again = watches.hold(&uri("x:a")).await;
        assert_eq!(seen(), (3, 1, 1));
        drop(again);
        assert!(watches.hold(&uri("x:bad")).await.is_none());
        assert_eq!(seen(), (4, 0, 0));
    }

    #[tokio::test]
    async fn who_gives_up_leaves_the_start_to_the_next() {
        let counting = Counting::default();
        let watches = Arc::new(Watches::new(Arc::new(counting.clone())));
        let wait = || {
            let watches = Arc::clone(&watches);
            tokio::spawn(async move { watches.hold(&uri("x:slow")).await.is_some() })
        };
        let (first, second) = (wait(), wait());
        yield_now().await;
        assert_eq!(counting.started.load(SeqCst), 1);
        first.abort();
        yield_now().await;
        counting.go.notify_one();
        assert!(second.await.unwrap());
        assert_eq!((counting.active.load(SeqCst), watches.len()), (0, 0));
    }
}
