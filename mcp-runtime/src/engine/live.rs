//! An endpoint while it is served: its catalog may change, and each request sees one state of it.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use arc_swap::ArcSwap;

use super::Engine;
use crate::{
    protocol::ChangeKind,
    registry::{BuildError, BuildFault, Endpoint, catalog::Catalog},
};

/// An endpoint's engine, replaced as a whole when its catalog changes. Clones share it.
#[derive(Clone)]
pub(crate) struct Live(Arc<Current>);

struct Current {
    path: Arc<str>,
    engine: ArcSwap<Engine>,
    /// What the catalog is made of. Its lock is held while the next one is made.
    endpoint: Mutex<Endpoint>,
}

impl Live {
    pub(crate) fn new(engine: Engine, endpoint: Endpoint) -> Self {
        let path = Arc::clone(&engine.catalog.info.path);
        Self(Arc::new(Current {
            path,
            engine: ArcSwap::from_pointee(engine),
            endpoint: Mutex::new(endpoint),
        }))
    }

    /// The endpoint at a path.
    ///
    /// # Errors
    /// If there is none; the fault names those that there are.
    pub(crate) fn at<'e>(endpoints: &'e [Self], path: &str) -> Result<&'e Self, BuildError> {
        endpoints.iter().find(|endpoint| endpoint.path() == path).ok_or_else(|| {
            let paths: Vec<&str> = endpoints.iter().map(Self::path).collect();
            BuildFault::new(format!("no endpoint is at `{path}`; there is {}", paths.join(", "))).into()
        })
    }

    /// Where it is served.
    pub(crate) fn path(&self) -> &str {
        &self.0.path
    }

    /// Its engine as it is now.
    pub(crate) fn now(&self) -> Arc<Engine> {
        self.0.engine.load_full()
    }

    /// Changes what it serves, and tells the streams that listen. If the result is faulty, nothing changes.
    pub(crate) fn edit(&self, edit: impl FnOnce(&mut Endpoint) -> Vec<ChangeKind>) -> Result<(), BuildError> {
        let mut endpoint = self.0.endpoint.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, mut next, mut faults) = (self.now(), endpoint.clone(), Vec::new());
        let changed = edit(&mut next);
        let per_page = now.shared.limits.list_page;
        let catalog = Catalog::build(&next, &now.shared.state, per_page, &mut faults);
        BuildError::check(faults)?;
        *endpoint = next;
        let engine =
            Engine { shared: Arc::clone(&now.shared), catalog: Arc::new(catalog), number: now.number };
        self.0.engine.store(Arc::new(engine));
        drop(endpoint);
        for kind in changed {
            now.shared.subscriptions.list_changed(now.number, kind);
        }
        Ok(())
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Live").field(&self.path()).finish()
    }
}
