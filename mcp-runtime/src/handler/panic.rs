//! Panics of application code: caught where they would take somebody else's work along.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

/// What a panic said; it stays in the server's log.
#[derive(Debug)]
pub(crate) struct Panic(pub String);

impl Panic {
    fn new(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self(text.unwrap_or("a value that is no text").to_owned())
    }
}

/// Does some work that may panic.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Panic::new(&*payload))
}

/// Polls a future; one that panics has ended, and must not be polled again.
pub(crate) fn poll_caught<F>(future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<Result<F::Output, Panic>>
where
    F: Future + ?Sized,
{
    match caught(|| future.poll(cx)) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin};

    use super::*;

    async fn ended<F: Future>(future: F) -> Result<F::Output, Panic> {
        let mut future = pin!(future);
        poll_fn(|cx| poll_caught(future.as_mut(), cx)).await
    }

    #[tokio::test]
    async fn a_panic_is_an_output() {
        assert_eq!(ended(async { 7 }).await.unwrap(), 7);
        let said = ended(async { panic!("no {}", 1) }).await.map(|(): ()| ()).unwrap_err();
        assert_eq!(said.0, "no 1");
        let said = ended(async { std::panic::panic_any(5) }).await.map(|(): ()| ()).unwrap_err();
        assert_eq!(said.0, "a value that is no text");
    }
}
