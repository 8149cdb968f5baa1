//! Progress of one invocation.

use std::{fmt, future::poll_fn, sync::Arc};

use super::outbox::{Decision, Offer, Outbox};
use crate::protocol::{self, ProgressToken};

/// One progress update: how much is done, of how much, and what it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    done: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl Progress {
    /// `done` units of work are done; the unit is the handler's own.
    #[must_use]
    pub fn new(done: impl ProgressAmount) -> Self {
        Self { done: done.amount(), total: None, message: None }
    }

    /// Of how many in all, if that is known.
    #[must_use]
    pub fn total(mut self, total: impl ProgressAmount) -> Self {
        self.total = Some(total.amount());
        self
    }

    /// A line for people.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}

impl<N: ProgressAmount> From<N> for Progress {
    fn from(done: N) -> Self {
        Self::new(done)
    }
}

/// A number that can measure progress. On the wire it is a double, exact up to 2^53.
pub trait ProgressAmount {
    /// The number as a double.
    fn amount(self) -> f64;
}

macro_rules! amounts {
    ($($number:ty),*) => {$(
        impl ProgressAmount for $number {
            #[allow(clippy::cast_lossless, clippy::cast_precision_loss, trivial_numeric_casts)]
            fn amount(self) -> f64 {
                self as f64
            }
        }
    )*};
}
amounts!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64);

/// Why a report was refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ProgressError {
    /// Progress must never go back (specification: `basic/patterns/progress`).
    Decreased {
        /// The last accepted value.
        last: f64,
        /// The refused one.
        reported: f64,
    },
    /// Not a finite number.
    NotFinite,
}

impl fmt::Display for ProgressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decreased { last, reported } => {
                write!(f, "progress must not decrease: {reported} was reported after {last}")
            }
            Self::NotFinite => f.write_str("progress and its total must be finite numbers"),
        }
    }
}

impl std::error::Error for ProgressError {}

/// Reports the progress of the invocation it was given to.
///
/// Handlers take `Option<ProgressReporter>`, because it exists only when the client sent a progress token. The
/// first accepted report turns the response into a stream of events. A report waits while `progress_queue`
/// frames are unread. After the end of the invocation, or its cancellation, reports have no effect.
#[derive(Clone)]
pub struct ProgressReporter {
    outbox: Arc<Outbox>,
    token: ProgressToken,
}

impl ProgressReporter {
    /// A reporter whose notifications go to `outbox` under the client's `token`.
    pub(crate) fn new(outbox: Arc<Outbox>, token: ProgressToken) -> Self {
        Self { outbox, token }
    }

    /// Reports; a number alone will do (`reporter.report(3)`).
    ///
    /// A value equal to the last one is folded into it: nothing is sent.
    ///
    /// # Errors
    /// [`ProgressError`] if the value is lower than the last one, or no finite number.
    pub async fn report(&self, progress: impl Into<Progress>) -> Result<(), ProgressError> {
        let progress = progress.into();
        if !progress.done.is_finite() || !progress.total.is_none_or(f64::is_finite) {
            return Err(ProgressError::NotFinite);
        }
        let offer = poll_fn(|cx| {
            self.outbox.poll_offer(
                cx,
                |last| match *last {
                    Some(last) if progress.done < last => {
                        Decision::Decline(Err(ProgressError::Decreased { last, reported: progress.done }))
                    }
                    Some(last) if progress.done <= last => Decision::Decline(Ok(())),
                    _ => {
                        *last = Some(progress.done);
                        Decision::Write
                    }
                },
                |out| {
                    let message = progress.message.as_deref();
                    protocol::write_progress(out, &self.token, progress.done, progress.total, message);
                },
            )
        });
        match offer.await {
            Offer::Accepted | Offer::Inert => Ok(()),
            Offer::Declined(result) => result,
        }
    }

    /// Reports from a plain `fn`, which runs on the blocking pool, and waits there for room.
    ///
    /// # Errors
    /// As [`report`](Self::report).
    ///
    /// # Panics
    /// If it is called from `async` code: it would block the thread that everybody else runs on.
    pub fn report_blocking(&self, progress: impl Into<Progress>) -> Result<(), ProgressError> {
        tokio::runtime::Handle::current().block_on(self.report(progress))
    }
}

impl fmt::Debug for ProgressReporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgressReporter").finish_non_exhaustive()
    }
}

/// Lets a handler report on the `Option<ProgressReporter>` it was given: nothing happens when it is `None`.
pub trait OptionalProgress {
    /// As [`ProgressReporter::report`], or nothing.
    ///
    /// # Errors
    /// As [`ProgressReporter::report`]; never when there is no reporter.
    fn report(
        &self,
        progress: impl Into<Progress> + Send,
    ) -> impl Future<Output = Result<(), ProgressError>> + Send;

    /// As [`ProgressReporter::report_blocking`], or nothing.
    ///
    /// # Errors
    /// As [`ProgressReporter::report_blocking`]; never when there is no reporter.
    fn report_blocking(&self, progress: impl Into<Progress>) -> Result<(), ProgressError>;
}

impl OptionalProgress for Option<ProgressReporter> {
    async fn report(&self, progress: impl Into<Progress> + Send) -> Result<(), ProgressError> {
        match self {
            Some(reporter) => reporter.report(progress).await,
            None => Ok(()),
        }
    }

    fn report_blocking(&self, progress: impl Into<Progress>) -> Result<(), ProgressError> {
        self.as_ref().map_or(Ok(()), |reporter| reporter.report_blocking(progress))
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;
    use crate::handler::Framing;

    fn reporter(capacity: usize) -> (ProgressReporter, Arc<Outbox>) {
        let outbox = Arc::new(Outbox::new(Framing::LINES, capacity));
        (ProgressReporter::new(outbox.clone(), ProgressToken::from(7)), outbox)
    }

    fn values(outbox: &Outbox) -> Vec<f64> {
        String::from_utf8(outbox.take())
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|message| message["params"]["progress"].as_f64().unwrap())
            .collect()
    }

    #[tokio::test]
    async fn higher_is_sent_equal_is_folded_lower_is_refused() {
        let (reporter, outbox) = reporter(16);
        reporter.report(1).await.unwrap();
        reporter.report(1).await.unwrap();
        reporter.report(2.5).await.unwrap();
        assert_eq!(reporter.report(2).await, Err(ProgressError::Decreased { last: 2.5, reported: 2.0 }));
        assert_eq!(values(&outbox), [1.0, 2.5]);
        assert_eq!(reporter.report(f64::NAN).await, Err(ProgressError::NotFinite));
        assert_eq!(
            reporter.report(Progress::new(3).total(f64::INFINITY)).await,
            Err(ProgressError::NotFinite)
        );
        assert!(outbox.is_empty());
    }

    #[tokio::test]
    async fn a_report_waits_for_room_and_ends_with_the_queue() {
        let (reporter, outbox) = reporter(1);
        reporter.report(1).await.unwrap();
        let mut second = Box::pin(reporter.report(2));
        assert!(second.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(values(&outbox), [1.0]);
        second.await.unwrap();
        let mut third = Box::pin(reporter.report(3));
        assert!(third.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        outbox.close();
        third.await.unwrap();
        assert_eq!(reporter.report(0).await, Ok(()), "inert after the end, whatever the value");
        assert_eq!(values(&outbox), [2.0]);
    }

    #[tokio::test]
    async fn a_report_waits_while_many_bytes_are_unread() {
        let (reporter, outbox) = reporter(16);
        let long = "x".repeat(300 << 10);
        reporter.report(Progress::new(1).message(&long)).await.unwrap();
        let mut second = Box::pin(reporter.report(2));
        assert!(second.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(values(&outbox), [1.0]);
        second.await.unwrap();
        assert_eq!(values(&outbox), [2.0]);
    }

    #[tokio::test]
    async fn an_absent_reporter_takes_reports() {
        let absent: Option<ProgressReporter> = None;
        absent.report(5).await.unwrap();
        absent.report_blocking(1).unwrap();
    }

    #[tokio::test]
    async fn a_blocking_handler_reports_from_its_thread() {
        let (reporter, outbox) = reporter(1);
        let thread =
            tokio::task::spawn_blocking(move || (1..=3).try_for_each(|n| reporter.report_blocking(n)));
        let mut seen = Vec::new();
        while seen.len() < 3 {
            poll_fn(|cx| outbox.poll_ready(cx)).await;
            seen.extend(values(&outbox));
        }
        thread.await.unwrap().unwrap();
        assert_eq!(seen, [1.0, 2.0, 3.0]);
    }
}
