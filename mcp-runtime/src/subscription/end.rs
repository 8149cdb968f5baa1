//! Why a stream ended.

use std::fmt;

/// Why a subscription's stream ended. The wire does not tell; logs, counters and the test client do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EndReason {
    /// Its client closed it, or went away.
    ClientGone,
    /// The authorizer no longer allows it.
    Denied,
    /// Its lease ended before it was renewed.
    Expired,
    /// The authorizer failed, panicked or took too long.
    CheckFailed,
    /// It was open for `listen_lifetime`.
    Lifetime,
    /// Its client read nothing for `write_timeout`.
    Stalled,
    /// There was no room for it.
    Capacity,
    /// The server is shutting down.
    ShuttingDown,
    /// The framework failed.
    Internal,
}

impl EndReason {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::ClientGone,
        Self::Denied,
        Self::Expired,
        Self::CheckFailed,
        Self::Lifetime,
        Self::Stalled,
        Self::Capacity,
        Self::ShuttingDown,
        Self::Internal,
    ];
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClientGone => "the client has gone",
            Self::Denied => "it is not allowed any more",
            Self::Expired => "its lease has expired",
            Self::CheckFailed => "its permission could not be checked",
            Self::Lifetime => "its time is over",
            Self::Stalled => "the client does not read",
            Self::Capacity => "there is no room",
            Self::ShuttingDown => "the server is shutting down",
            Self::Internal => "internal error",
        })
    }
}
