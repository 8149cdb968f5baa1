//! How the application says what has changed, and how all servers of a fleet hear of it.

use std::{
    error::Error,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use super::change::{Change, InvalidUri};
use crate::handler::{FromInvocation, Invocation, Needs, Rejection};

/// Any error.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Broadcasts changes to all of its listeners: those of this process, or of a whole fleet.
///
/// [`InMemoryPublisher`] is the one for a single process; with the features `redis` and `nats` there are two for a
/// fleet. One of your own may bridge any bus that delivers each change to **every** listener; a queue of which each
/// message goes to one consumer won't do. A publisher that was cut off says [`Change::Everything`] when it is back, so
/// that nobody misses what was said meanwhile.
///
/// A server subscribes one listener, and closes that registration when it shuts down; the publisher stays the
/// application's.
///
/// Neither method may wait: a publisher over a network queues. Since a change has no payload but its key, such a queue
/// needs each change at most once.
pub trait ChangePublisher: Send + Sync + 'static {
    /// Calls `listener` for every change from now on, until the registration is closed or dropped.
    fn subscribe(&self, listener: Arc<dyn ChangeListener>) -> Registration;

    /// Tells every listener.
    ///
    /// # Errors
    /// What the listeners failed with, or why the change could not be passed on. Every listener that can be reached
    /// was called all the same.
    fn publish(&self, change: &Change) -> Result<(), PublishError>;

    /// Says that the content of the resource at an absolute URI has changed.
    ///
    /// # Errors
    /// As [`publish`](Self::publish); [`PublishError::InvalidUri`] if `uri` is none.
    fn resource_updated(&self, uri: &str) -> Result<(), PublishError> {
        self.publish(&Change::resource(uri)?)
    }

    /// Says that the list of resources or templates has changed.
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    fn resources_changed(&self) -> Result<(), PublishError> {
        self.publish(&Change::Resources)
    }

    /// Says that the list of tools has changed.
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    fn tools_changed(&self) -> Result<(), PublishError> {
        self.publish(&Change::Tools)
    }

    /// Says that the list of prompts has changed.
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    fn prompts_changed(&self) -> Result<(), PublishError> {
        self.publish(&Change::Prompts)
    }
}

impl<P: ChangePublisher + ?Sized> ChangePublisher for Arc<P> {
    fn subscribe(&self, listener: Arc<dyn ChangeListener>) -> Registration {
        (**self).subscribe(listener)
    }

    fn publish(&self, change: &Change) -> Result<(), PublishError> {
        (**self).publish(change)
    }
}

/// Hears of changes. Closures are listeners.
pub trait ChangeListener: Send + Sync + 'static {
    /// Something has changed. Called on the thread that publishes, so it must be prompt.
    ///
    /// # Errors
    /// Whatever went wrong; the publisher passes it on to whoever published, after calling the other listeners.
    fn changed(&self, change: &Change) -> Result<(), BoxError>;
}

impl<F: Fn(&Change) -> Result<(), BoxError> + Send + Sync + 'static> ChangeListener for F {
    fn changed(&self, change: &Change) -> Result<(), BoxError> {
        self(change)
    }
}

/// A listener's place at its publisher. Closing or dropping it ends the calls; one that has begun may still finish.
#[must_use = "dropping a registration closes it"]
pub struct Registration(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Registration {
    /// A registration that ends by calling `close`, once.
    pub fn new(close: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(close)))
    }

    /// Ends it.
    pub fn close(self) {}
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(close) = self.0.take() {
            close();
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").finish_non_exhaustive()
    }
}

/// Why a change was not told to everybody.
#[derive(Debug)]
#[non_exhaustive]
pub enum PublishError {
    /// The URI is not absolute.
    InvalidUri(InvalidUri),
    /// Listeners failed; all others were called.
    Listeners {
        /// What the first one failed with.
        first: BoxError,
        /// What others failed with, in the order of their subscription.
        rest: Vec<BoxError>,
    },
    /// The change can't be passed on.
    Unavailable(BoxError),
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidUri(error) => error.fmt(f),
            Self::Listeners { first, rest } if rest.is_empty() => write!(f, "a listener failed: {first}"),
            Self::Listeners { first, rest } => {
                write!(f, "{} listeners failed, the first one with: {first}", rest.len() + 1)
            }
            Self::Unavailable(error) => write!(f, "the change can't be passed on: {error}"),
        }
    }
}

impl Error for PublishError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::InvalidUri(error) => Some(error),
            Self::Listeners { first: error, .. } | Self::Unavailable(error) => Some(&**error),
        }
    }
}

impl From<InvalidUri> for PublishError {
    fn from(error: InvalidUri) -> Self {
        Self::InvalidUri(error)
    }
}

/// Broadcasts within the process, on the publishing thread. Clones share their listeners.
///
/// ```
/// use std::sync::Arc;
/// use mcp_runtime::subscription::{Change, ChangePublisher, InMemoryPublisher};
///
/// let publisher = InMemoryPublisher::new();
/// let registration = publisher.subscribe(Arc::new(|change: &Change| {
///     println!("{change:?}");
///     Ok(())
/// }));
/// publisher.resource_updated("file:///a.txt")?;
/// registration.close();
/// # Ok::<(), mcp_runtime::subscription::PublishError>(())
/// ```
#[derive(Clone, Default)]
pub struct InMemoryPublisher(Arc<Listeners>);

#[derive(Default)]
struct Listeners {
    next: AtomicU64,
    /// Replaced as a whole, so that listeners are called without the lock.
    all: Mutex<Snapshot>,
}

/// Listeners with their numbers.
type Snapshot = Arc<Vec<(u64, Arc<dyn ChangeListener>)>>;

impl InMemoryPublisher {
    /// A publisher without listeners.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many listeners there are.
    #[must_use]
    pub fn listeners(&self) -> usize {
        self.0.lock().len()
    }
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, Snapshot> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChangePublisher for InMemoryPublisher {
    fn subscribe(&self, listener: Arc<dyn ChangeListener>) -> Registration {
        let number = self.0.next.fetch_add(1, Relaxed);
        let listeners = Arc::clone(&self.0);
        Arc::make_mut(&mut listeners.lock()).push((number, listener));
        Registration::new(move || Arc::make_mut(&mut listeners.lock()).retain(|(other, _)| *other != number))
    }

    fn publish(&self, change: &Change) -> Result<(), PublishError> {
        let listeners = Arc::clone(&self.0.lock());
        let failed = listeners.iter().filter_map(|(_, listener)| {
            catch_unwind(AssertUnwindSafe(|| listener.changed(change)))
                .unwrap_or_else(|_| Err("the listener panicked".into()))
                .err()
        });
        let mut failed: Vec<BoxError> = failed.collect();
        if failed.is_empty() {
            return Ok(());
        }
        Err(PublishError::Listeners { first: failed.remove(0), rest: failed })
    }
}

impl fmt::Debug for InMemoryPublisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemoryPublisher").field("listeners", &self.listeners()).finish()
    }
}

/// The server's publisher, as a handler's parameter.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// /// Renames a part.
/// #[mcp_tool]
/// async fn rename(id: String, name: String, publisher: Publisher) -> Result<String, ToolError> {
///     // … store the name …
///     publisher.resource_updated(&format!("catalog://parts/{id}"))?;
///     Ok(format!("renamed to {name}"))
/// }
/// ```
#[derive(Clone)]
pub struct Publisher(Arc<dyn ChangePublisher>);

impl Publisher {
    pub(crate) fn new(publisher: impl ChangePublisher) -> Self {
        Self(Arc::new(publisher))
    }
}

impl ChangePublisher for Publisher {
    fn subscribe(&self, listener: Arc<dyn ChangeListener>) -> Registration {
        self.0.subscribe(listener)
    }

    fn publish(&self, change: &Change) -> Result<(), PublishError> {
        self.0.publish(change)
    }
}

impl FromInvocation for Publisher {
    type Rejection = Rejection;

    async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
        invocation.state().ok_or_else(|| Rejection::internal("the server has no publisher"))
    }

    fn needs(needs: &mut Needs) {
        needs.state::<Self>();
    }

    fn immediately(invocation: &Invocation) -> Option<Result<Self, Rejection>> {
        invocation.state().map(Ok)
    }
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Heard = Arc<Mutex<Vec<(&'static str, Change)>>>;

    fn listener(name: &'static str, heard: &Heard, fails: bool) -> Arc<dyn ChangeListener> {
        let heard = Arc::clone(heard);
        Arc::new(move |change: &Change| {
            heard.lock().unwrap().push((name, change.clone()));
            if fails { Err(format!("{name} failed").into()) } else { Ok(()) }
        })
    }

    #[test]
    fn every_listener_is_called_and_the_first_failure_returned_with_the_rest() {
        let (publisher, heard) = (InMemoryPublisher::new(), Heard::default());
        let _kept = [("a", false), ("b", true), ("c", false), ("d", true)]
            .map(|(name, fails)| publisher.subscribe(listener(name, &heard, fails)));
        let _panics = publisher.subscribe(Arc::new(|_: &Change| panic!("no")));
        let error = publisher.tools_changed().unwrap_err();
        let names: Vec<_> = heard.lock().unwrap().iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
        assert_eq!(error.to_string(), "3 listeners failed, the first one with: b failed");
        let PublishError::Listeners { rest, .. } = error else { panic!("{error:?}") };
        let rest: Vec<_> = rest.iter().map(ToString::to_string).collect();
        assert_eq!(rest, ["d failed", "the listener panicked"]);
    }

    #[test]
    fn a_closed_registration_hears_nothing() {
        let (publisher, heard) = (InMemoryPublisher::new(), Heard::default());
        let first = publisher.subscribe(listener("first", &heard, false));
        let second = publisher.subscribe(listener("second", &heard, false));
        first.close();
        publisher.resource_updated("x://a").unwrap();
        drop(second);
        publisher.prompts_changed().unwrap();
        assert_eq!(*heard.lock().unwrap(), [("second", Change::resource("x://a").unwrap())]);
        assert_eq!(publisher.listeners(), 0);
    }

    #[test]
    fn a_listener_may_use_its_publisher() {
        let publisher = InMemoryPublisher::new();
        let again = publisher.clone();
        let _kept = publisher.subscribe(Arc::new(move |change: &Change| match change {
            Change::Tools => again.prompts_changed().map_err(Into::into),
            _ => Err("heard the second".into()),
        }));
        let error = publisher.tools_changed().unwrap_err();
        assert_eq!(error.to_string(), "a listener failed: a listener failed: heard the second");
    }

    #[test]
    fn what_is_no_uri_is_refused() {
        let error = InMemoryPublisher::new().resource_updated("a.txt").unwrap_err();
        assert!(matches!(error, PublishError::InvalidUri(InvalidUri)));
    }
}
