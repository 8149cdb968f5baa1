//! Plain functions, run on the blocking pool.

use std::{panic::resume_unwind, sync::Arc};

use super::{HandlerError, Invocation};

/// Keeps an invocation's place among the running handlers. It is freed when the last clone is dropped, so that
/// blocking work that outlives its caller still counts.
#[derive(Clone)]
pub struct WorkGuard(#[allow(dead_code, reason = "held for its drop")] Arc<dyn Send + Sync>);

impl WorkGuard {
    /// Holds `place` until the last clone is gone.
    pub(crate) fn new(place: impl Send + Sync + 'static) -> Self {
        Self(Arc::new(place))
    }
}

/// Runs `function` on the blocking pool, once there is a place for it.
///
/// Nothing can stop it there: if the caller goes away it runs on, and its place stays taken until it returns.
///
/// # Errors
/// Only if the runtime itself is shutting down.
pub async fn run_blocking<T: Send + 'static>(
    invocation: &Invocation,
    function: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HandlerError> {
    let place = invocation.blocking_place().await;
    let guard = invocation.work_guard();
    // The span of the request stays entered for what the function logs.
    let span = tracing::Span::current();
    let task = tokio::task::spawn_blocking(move || {
        let _held = (place, guard);
        span.in_scope(function)
    });
    match task.await {
        Ok(value) => Ok(value),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(error) => Err(HandlerError::internal(error)),
        },
    }
}
