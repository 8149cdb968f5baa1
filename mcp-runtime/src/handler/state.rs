//! State of the server, and extensions of the request.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    ops::Deref,
    sync::Arc,
};

/// Injects a clone of a value that the server was given with `state(…)`.
///
/// A server may hold several values, one a type. `build()` fails if a handler takes a type that nobody provided.
#[derive(Clone, Copy, Debug, Default)]
pub struct State<T>(pub T);

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Injects a clone of what a layer in front (an axum middleware, say) put into the HTTP request's extensions.
///
/// This is how an authenticated user reaches a handler. If it is absent the request fails with an internal error,
/// which names the type in the server's log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extension<T>(pub T);

impl<T> Deref for Extension<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Values by their type.
#[derive(Clone, Default)]
pub struct StateMap(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl StateMap {
    /// Adds a value. Returns false, and keeps the old one, if there is one of its type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) -> bool {
        match self.0.entry(TypeId::of::<T>()) {
            std::collections::hash_map::Entry::Occupied(_) => false,
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(Arc::new(value));
                true
            }
        }
    }

    /// The value of a type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// Whether there is a value of the type with this id.
    #[must_use]
    pub fn contains(&self, id: TypeId) -> bool {
        self.0.contains_key(&id)
    }
}

impl fmt::Debug for StateMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateMap").field("len", &self.0.len()).finish_non_exhaustive()
    }
}
