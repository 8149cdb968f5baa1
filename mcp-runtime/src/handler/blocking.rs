//! Plain functions, run on the blocking pool.

use std::{panic::resume_unwind, sync::Arc};

use super::{Cancelled, HandlerError, Invocation};

/// Keeps an invocation's place among the running handlers. It is freed when the last clone is dropped, so that
/// blocking work that outlives its caller still counts.
pub type WorkGuard = Arc<dyn Send + Sync>;

/// Runs `function` on the blocking pool, once there is a place for it.
///
/// Nothing can stop it there: if the caller goes away it runs on, and its place stays taken until it returns. Cancelled
/// before that, it never begins.
///
/// # Errors
/// If the invocation is cancelled before there is a place, or the runtime itself is shutting down.
pub async fn run_blocking<T: Send + 'static>(
    invocation: &Invocation,
    function: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HandlerError> {
    let cancellation = invocation.cancellation();
    let place = tokio::select! {
        biased;
        reason = cancellation.cancelled() => return Err(HandlerError::internal(Cancelled { reason })),
        place = invocation.blocking_place() => place,
    };
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
