//! How a publisher for a fleet goes about it.

use std::{error::Error, fmt, time::Duration};

use super::BoxError;

/// Settings of a publisher for a fleet. All servers of a fleet use the same channel.
///
/// ```
/// use std::time::Duration;
/// use mcp_runtime::subscription::FleetOptions;
///
/// let options = FleetOptions::new().channel("parts.changes").max_backoff(Duration::from_secs(30));
/// ```
#[derive(Clone, Debug)]
pub struct FleetOptions {
    pub(super) channel: String,
    pub(super) min_backoff: Duration,
    pub(super) max_backoff: Duration,
    pub(super) ping_interval: Duration,
    pub(super) timeout: Duration,
    pub(super) max_pending: usize,
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self {
            channel: "mcp.changes".into(),
            min_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(10),
            ping_interval: Duration::from_secs(5),
            timeout: Duration::from_secs(5),
            max_pending: 16_384,
        }
    }
}

impl FleetOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The Redis channel, or the NATS subject. Default: `mcp.changes`. Servers that share no content should share no
    /// channel: what one says about everything, all of it hear.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        self.channel = channel.into();
        self
    }

    /// How long to wait before the first attempt to reconnect. It doubles with each failure, and each wait is shortened
    /// at random, to half of it at most, so that a fleet does not come back all at once. Default: 100 ms.
    #[must_use]
    pub fn min_backoff(mut self, delay: Duration) -> Self {
        self.min_backoff = delay;
        self
    }

    /// How long to wait between attempts at most. A connection that lasts for so long starts the waits anew; a broker
    /// that keeps falling over is met with ever longer ones. Default: 10 s.
    #[must_use]
    pub fn max_backoff(mut self, delay: Duration) -> Self {
        self.max_backoff = delay;
        self
    }

    /// After how long without any message to look whether the connection is still alive. Default: 5 s.
    #[must_use]
    pub fn ping_interval(mut self, interval: Duration) -> Self {
        self.ping_interval = interval;
        self
    }

    /// For how long the broker may take to connect, or to confirm what was sent, before the connection is given up.
    /// Default: 5 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How many different changes may be pending while the broker is away. One more, and all of them become one
    /// [`Change::Everything`](crate::subscription::Change::Everything). Default: 16,384; at a hundred bytes a URI that
    /// is 4 MB.
    #[must_use]
    pub fn max_pending(mut self, changes: usize) -> Self {
        self.max_pending = changes;
        self
    }

    pub(super) fn check(&self) -> Result<(), FleetError> {
        let wrong = if self.channel.is_empty() {
            "the channel has no name"
        } else if self.min_backoff.is_zero() || self.max_backoff < self.min_backoff {
            "`min_backoff` must be longer than nothing, and no longer than `max_backoff`"
        } else if self.ping_interval.is_zero() || self.timeout.is_zero() {
            "`ping_interval` and `timeout` must be longer than nothing"
        } else if self.max_pending == 0 {
            "`max_pending` must be 1 at least"
        } else {
            return Ok(());
        };
        Err(FleetError::Options(wrong))
    }
}

/// Why a publisher for a fleet can't be made. A broker that does not answer is none of the reasons.
#[derive(Debug)]
#[non_exhaustive]
pub enum FleetError {
    /// The address of the broker is none.
    Address(BoxError),
    /// The options contradict each other, or the broker can't have such a channel.
    Options(&'static str),
    /// There is no tokio runtime here.
    NoRuntime,
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => write!(f, "no address of a broker: {error}"),
            Self::Options(wrong) => f.write_str(wrong),
            Self::NoRuntime => f.write_str("a publisher for a fleet is to be made within a tokio runtime"),
        }
    }
}

impl Error for FleetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Address(error) => Some(&**error),
            Self::Options(_) | Self::NoRuntime => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_make_no_sense_are_refused() {
        let nothing = Duration::ZERO;
        let wrong = [
            FleetOptions::new().channel(""),
            FleetOptions::new().min_backoff(nothing),
            FleetOptions::new().min_backoff(Duration::from_secs(11)),
            FleetOptions::new().ping_interval(nothing),
            FleetOptions::new().timeout(nothing),
            FleetOptions::new().max_pending(0),
        ];
        for options in wrong {
            assert!(matches!(options.check(), Err(FleetError::Options(_))), "{options:?}");
        }
        assert!(FleetOptions::new().check().is_ok());
    }
}
