//! Every bound of the server, with its default.

use std::time::Duration;

use crate::{
    registry::BuildFault,
    request_state::StateBounds,
    subscription::{Bounds, FilterBounds},
};

/// The bounds of a server.
///
/// Each can be set on the server's builder. `build()` refuses combinations that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The most bytes of a request's body: 10 MiB. Above: HTTP 413.
    pub max_body_bytes: usize,
    /// How long one request may take from its arrival, queueing included: 60 s. Progress never extends it. An
    /// operation may set its own with `timeout`.
    pub request_timeout: Duration,
    /// How many handlers run at once: 256.
    pub max_concurrent_handlers: usize,
    /// How many requests wait for a place among the running handlers: 1,024. Above: HTTP 503.
    pub handler_queue: usize,
    /// How many plain (`fn`) handlers run at once, each on a thread of the blocking pool: 64.
    pub max_blocking_handlers: usize,
    /// How long a cancelled handler may go on before its future is dropped: 5 s. `None`: for ever.
    pub cancellation_grace: Option<Duration>,
    /// How many unread notifications of one request are kept before its handler waits: 16.
    pub progress_queue: usize,
    /// How often an idle stream is kept alive with a comment: 15 s. `None`: never.
    pub keep_alive: Option<Duration>,
    /// How long a stream may be unwritable before it ends: 30 s.
    pub write_timeout: Duration,
    /// How many items a page of a list has: 1,000.
    pub list_page: usize,
    /// How many subscriptions are open at once: 1,000. `None`: no bound. Above: HTTP 503.
    pub max_listen_streams: Option<usize>,
    /// How many of them one identified caller has at one endpoint: 32. `None`: no bound. Anonymous callers share
    /// `max_listen_streams` only.
    pub max_listen_streams_per_caller: Option<usize>,
    /// How long a subscription may be open: 24 h. Then it ends gracefully.
    pub listen_lifetime: Duration,
    /// The longest that a permission to listen holds before it is checked again: 1 min.
    pub max_lease: Duration,
    /// How long an authorizer may take to check a subscription: 5 s. Then it is refused.
    pub authorization_timeout: Duration,
    /// How many subscriptions are checked at once, when they are opened and when they are renewed: 64 each.
    pub max_authorization_checks: usize,
    /// How many resources one subscription may name: 1,024.
    pub max_subscribed_resources: usize,
    /// The most bytes of the URI of a subscribed resource: 8 KiB.
    pub max_subscribed_uri_bytes: usize,
    /// How long a client may take, from the first question of a request, to come back with its last answer: 15 min.
    pub request_state_lifetime: Duration,
    /// The most bytes of a `requestState`, as it is sent: 64 KiB.
    pub max_request_state_bytes: usize,
    /// How often a client may be asked within one request: 10 rounds.
    pub max_input_rounds: u32,
    /// How long running work may finish after shutdown begins: 15 s.
    pub graceful_shutdown: Duration,
    /// How long cancelled work may take to end after that: 3 s.
    pub forced_shutdown: Duration,
    /// How long a client may take to send a request's headers: 30 s. Under `serve`.
    pub header_read_timeout: Duration,
    /// How many connections are open at once: 8,192. Under `serve`.
    pub max_connections: usize,
    /// The most bytes of a request's headers: 64 KiB. Under `serve`.
    pub max_header_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 10 << 20,
            request_timeout: Duration::from_secs(60),
            max_concurrent_handlers: 256,
            handler_queue: 1024,
            max_blocking_handlers: 64,
            cancellation_grace: Some(Duration::from_secs(5)),
            progress_queue: 16,
            keep_alive: Some(Duration::from_secs(15)),
            write_timeout: Duration::from_secs(30),
            list_page: 1000,
            max_listen_streams: Some(1000),
            max_listen_streams_per_caller: Some(32),
            listen_lifetime: Duration::from_secs(24 * 60 * 60),
            max_lease: Duration::from_secs(60),
            authorization_timeout: Duration::from_secs(5),
            max_authorization_checks: 64,
            max_subscribed_resources: 1024,
            max_subscribed_uri_bytes: 8 << 10,
            request_state_lifetime: Duration::from_secs(15 * 60),
            max_request_state_bytes: 64 << 10,
            max_input_rounds: 10,
            graceful_shutdown: Duration::from_secs(15),
            forced_shutdown: Duration::from_secs(3),
            header_read_timeout: Duration::from_secs(30),
            max_connections: 8192,
            max_header_bytes: 64 << 10,
        }
    }
}

impl Limits {
    /// The least header buffer that hyper takes.
    const LEAST_HEADER_BYTES: usize = 8 << 10;
    /// The longest duration: a year. Clocks can't add much more.
    pub(crate) const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

    /// Those of subscriptions.
    pub(crate) fn subscriptions(&self) -> Bounds {
        Bounds {
            streams: self.max_listen_streams,
            per_caller: self.max_listen_streams_per_caller,
            lifetime: self.listen_lifetime,
            max_lease: self.max_lease,
            authorization_timeout: self.authorization_timeout,
            checks: self.max_authorization_checks,
            keep_alive: self.keep_alive,
            write_timeout: self.write_timeout,
            filter: FilterBounds {
                uris: self.max_subscribed_resources,
                uri_bytes: self.max_subscribed_uri_bytes,
            },
        }
    }

    /// Those of states between rounds.
    pub(crate) fn states(&self) -> StateBounds {
        StateBounds {
            lifetime: self.request_state_lifetime,
            sealed_bytes: self.max_request_state_bytes,
            rounds: self.max_input_rounds,
        }
    }

    /// What contradicts itself.
    pub(crate) fn check(&self, faults: &mut Vec<BuildFault>) {
        let mut fault = |message: String| faults.push(BuildFault::new(message));
        for (name, value) in [
            ("max_body_bytes", self.max_body_bytes),
            ("max_concurrent_handlers", self.max_concurrent_handlers),
            ("max_blocking_handlers", self.max_blocking_handlers),
            ("progress_queue", self.progress_queue),
            ("list_page", self.list_page),
            ("max_connections", self.max_connections),
            ("max_authorization_checks", self.max_authorization_checks),
            ("max_request_state_bytes", self.max_request_state_bytes),
            ("max_input_rounds", self.max_input_rounds as usize),
        ] {
            if value == 0 {
                fault(format!("`{name}` is 0: nothing could be served; set at least 1"));
            }
        }
        for (name, value) in [
            ("request_timeout", Some(self.request_timeout)),
            ("write_timeout", Some(self.write_timeout)),
            ("header_read_timeout", Some(self.header_read_timeout)),
            ("keep_alive", self.keep_alive),
            ("listen_lifetime", Some(self.listen_lifetime)),
            ("max_lease", Some(self.max_lease)),
            ("authorization_timeout", Some(self.authorization_timeout)),
            ("request_state_lifetime", Some(self.request_state_lifetime)),
        ] {
            if value == Some(Duration::ZERO) {
                fault(format!("`{name}` is zero; set a duration above it"));
            }
        }
        for (name, value) in [
            ("request_timeout", self.request_timeout),
            ("write_timeout", self.write_timeout),
            ("header_read_timeout", self.header_read_timeout),
            ("cancellation_grace", self.cancellation_grace.unwrap_or_default()),
            ("listen_lifetime", self.listen_lifetime),
            ("max_lease", self.max_lease),
            ("authorization_timeout", self.authorization_timeout),
            ("request_state_lifetime", self.request_state_lifetime),
            ("graceful_shutdown", self.graceful_shutdown),
            ("forced_shutdown", self.forced_shutdown),
        ] {
            if value > Self::LONGEST {
                fault(format!(
                    "`{name}` ({value:?}) is longer than {:?}, which is as good as for ever",
                    Self::LONGEST
                ));
            }
        }
        if let Some(keep_alive) = self.keep_alive.filter(|keep_alive| *keep_alive >= self.write_timeout) {
            fault(format!(
                "`keep_alive` ({keep_alive:?}) must be shorter than `write_timeout` ({:?}), or a stalled stream would \
                 end before it is probed",
                self.write_timeout
            ));
        }
        if self.max_blocking_handlers > self.max_concurrent_handlers {
            fault(format!(
                "`max_blocking_handlers` ({}) can't exceed `max_concurrent_handlers` ({}), which counts them too",
                self.max_blocking_handlers, self.max_concurrent_handlers
            ));
        }
        if self.max_authorization_checks > tokio::sync::Semaphore::MAX_PERMITS {
            fault(format!("`max_authorization_checks` ({}) is too large", self.max_authorization_checks));
        }
        // Keys of a stream are counted in 16 bits, three of which are the lists.
        if self.max_subscribed_resources > usize::from(u16::MAX) - 3 {
            fault(format!(
                "`max_subscribed_resources` ({}) is too large: set at most 65532",
                self.max_subscribed_resources
            ));
        }
        if self.max_connections > tokio::sync::Semaphore::MAX_PERMITS {
            fault(format!("`max_connections` ({}) is too large", self.max_connections));
        }
        if self.max_concurrent_handlers > tokio::sync::Semaphore::MAX_PERMITS
            || u32::try_from(self.max_concurrent_handlers).is_err()
        {
            fault(format!("`max_concurrent_handlers` ({}) is too large", self.max_concurrent_handlers));
        }
        if self.max_header_bytes < Self::LEAST_HEADER_BYTES {
            fault(format!(
                "`max_header_bytes` ({}) is too small: set at least {}",
                self.max_header_bytes,
                Self::LEAST_HEADER_BYTES
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(change: impl FnOnce(&mut Limits)) -> Vec<String> {
        let (mut limits, mut faults) = (Limits::default(), Vec::new());
        change(&mut limits);
        limits.check(&mut faults);
        faults.into_iter().map(|fault| fault.message).collect()
    }

    #[test]
    fn the_defaults_agree() {
        assert_eq!(faults(|_| ()), [""; 0]);
    }

    #[test]
    fn contradictions_are_reported_together() {
        let found = faults(|limits| {
            limits.keep_alive = Some(Duration::from_secs(30));
            limits.max_blocking_handlers = 300;
            limits.list_page = 0;
        });
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().any(|fault| fault.contains("keep_alive") && fault.contains("write_timeout")));
    }

    #[test]
    fn what_no_clock_can_add_is_refused() {
        let found = faults(|limits| {
            limits.request_timeout = Duration::MAX;
            limits.max_connections = usize::MAX;
        });
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_keep_alive_must_be_strictly_shorter() {
        assert_eq!(faults(|limits| limits.keep_alive = Some(Duration::from_millis(29_999))).len(), 0);
        assert_eq!(faults(|limits| limits.keep_alive = None).len(), 0);
    }
}
