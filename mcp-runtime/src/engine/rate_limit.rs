//! Rate limits: of requests, and of tool calls.

use std::{future::Future, pin::Pin, time::Duration};

use crate::handler::{Caller, EndpointInfo};

/// Decides whether one more request, or tool call, may pass now.
pub trait RateLimit: Send + Sync + 'static {
    /// Counts the request and lets it pass.
    ///
    /// # Errors
    /// How long the client should wait: HTTP 429 with `Retry-After`, in whole seconds and at least one.
    fn check(&self, request: &RateLimited<'_>) -> impl Future<Output = Result<(), Duration>> + Send;
}

/// What a rate limit can go by.
#[derive(Clone, Copy, Debug)]
pub struct RateLimited<'r> {
    /// Who calls, by admission.
    pub caller: &'r Caller,
    /// The endpoint that is called.
    pub endpoint: &'r EndpointInfo,
    /// The JSON-RPC method.
    pub method: &'r str,
    /// The tool, for a tool's limit.
    pub tool: Option<&'r str>,
}

/// A [`RateLimit`] whose type is forgotten.
pub(crate) trait DynRateLimit: Send + Sync {
    fn check<'a>(
        &'a self,
        request: &'a RateLimited<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), Duration>> + Send + 'a>>;
}

impl<L: RateLimit> DynRateLimit for L {
    fn check<'a>(
        &'a self,
        request: &'a RateLimited<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), Duration>> + Send + 'a>> {
        Box::pin(RateLimit::check(self, request))
    }
}

#[cfg(feature = "rate-limit")]
pub use token_bucket::TokenBucket;

#[cfg(feature = "rate-limit")]
mod token_bucket {
    use std::{
        num::NonZeroU32,
        sync::atomic::{AtomicUsize, Ordering::Relaxed},
        time::Duration,
    };

    use governor::{
        Quota, RateLimiter,
        clock::{Clock, DefaultClock},
        state::keyed::DefaultKeyedStateStore,
    };

    use super::{RateLimit, RateLimited};

    /// A token bucket for each caller, by the `governor` crate; anonymous callers share one.
    ///
    /// Buckets that are full again are forgotten from time to time, so that memory follows the callers of late.
    pub struct TokenBucket {
        limiter: RateLimiter<Option<String>, DefaultKeyedStateStore<Option<String>>, DefaultClock>,
        clock: DefaultClock,
        /// How many callers there may be before it is tried to forget some.
        many: AtomicUsize,
    }

    impl TokenBucket {
        /// Callers that are kept before forgetting is tried.
        const MANY: usize = 16_384;

        /// `burst` requests at once, and `burst` more evenly spread over each `period`; at least one.
        #[must_use]
        pub fn new(burst: u32, period: Duration) -> Self {
            let burst = NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
            let quota = Quota::with_period(period / burst.get())
                .unwrap_or(Quota::per_second(burst))
                .allow_burst(burst);
            let many = AtomicUsize::new(Self::MANY);
            Self { limiter: RateLimiter::keyed(quota), clock: DefaultClock::default(), many }
        }
    }

    impl RateLimit for TokenBucket {
        async fn check(&self, request: &RateLimited<'_>) -> Result<(), Duration> {
            let key = request.caller.id().map(str::to_owned);
            if self.limiter.len() > self.many.load(Relaxed) {
                self.limiter.retain_recent();
                // Looking through all of them pays once there are twice as many.
                self.many.store(Self::MANY.max(2 * self.limiter.len()), Relaxed);
            }
            self.limiter.check_key(&key).map_err(|refused| refused.wait_time_from(self.clock.now()))
        }
    }

    impl std::fmt::Debug for TokenBucket {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("TokenBucket").finish_non_exhaustive()
        }
    }
}
