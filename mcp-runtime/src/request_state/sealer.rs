//! Sealing the state of one round, and opening it in the next one.

use std::{fmt, sync::Arc, time::Duration};

use subtle::ConstantTimeEq as _;

use super::{
    claims::{Claims, Round, StateId, request_digest},
    clock::{Clock, from_millis, to_millis},
    context::StateContext,
    protector::{BoxError, DynStateProtector, ProtectorError},
    random::random,
    single_use::DynSingleUse,
};
use crate::protocol::RequestId;

/// What bounds the states of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StateBounds {
    /// From the first round to the last one: long enough for a person to answer. Default: 15 min.
    pub(crate) lifetime: Duration,
    /// The longest sealed text, in bytes: a client sends it with its request. Default: 64 KiB.
    pub(crate) sealed_bytes: usize,
    /// How many states a request may go through. Default: 10.
    pub(crate) rounds: u32,
}

impl Default for StateBounds {
    fn default() -> Self {
        Self { lifetime: Duration::from_secs(15 * 60), sealed_bytes: 64 * 1024, rounds: 10 }
    }
}

/// Seals and opens the states of a server.
///
/// The protector makes sure that a state is what it was. Here is what it belongs to, for how long, and in which order:
/// that is part of the state, and checked whatever the protector does.
pub(crate) struct StateSealer {
    protector: Arc<dyn DynStateProtector>,
    single_use: Option<Arc<dyn DynSingleUse>>,
    bounds: StateBounds,
    clock: Clock,
}

/// A state that may be continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    /// The application's bytes.
    pub(crate) payload: Vec<u8>,
    /// What the next state continues.
    pub(crate) round: Round,
    /// What it is used up by.
    pub(crate) id: StateId,
}

/// Why there is no sealed state.
#[derive(Debug)]
pub(crate) enum SealFailure {
    /// It has so many bytes, and may have so many.
    TooLarge { bytes: usize, most: usize },
    /// The request has gone through as many as it may.
    TooManyRounds { most: u32 },
    /// The protector can't be reached.
    Unavailable(BoxError),
}

/// Why a state can't be continued.
#[derive(Debug)]
pub(crate) enum OpenFailure {
    /// It is not valid; more is not told.
    Refused,
    /// The protector, or who remembers the used states, can't be reached.
    Unavailable(BoxError),
}

impl StateSealer {
    pub(crate) fn new(
        protector: Arc<dyn DynStateProtector>,
        single_use: Option<Arc<dyn DynSingleUse>>,
        bounds: StateBounds,
    ) -> Self {
        Self { protector, single_use, bounds, clock: Clock::start() }
    }

    /// Seals the state with which `request_id` is answered. `previous` is the round that it continues.
    pub(crate) async fn seal(
        &self,
        context: &StateContext,
        request_id: &RequestId,
        previous: Option<Round>,
        payload: &[u8],
    ) -> Result<String, SealFailure> {
        self.check_size(payload.len())?;
        let issued = self.clock.now();
        let round = match previous {
            Some(previous) => Round { number: previous.number.saturating_add(1), ..previous },
            None => {
                let expires = issued.checked_add(self.bounds.lifetime);
                Round { number: 1, expires: expires.map_or(u64::MAX, to_millis) }
            }
        };
        if round.number > self.bounds.rounds {
            return Err(SealFailure::TooManyRounds { most: self.bounds.rounds });
        }
        let claims = Claims {
            id: StateId(random()?),
            binding: *context.binding(),
            issued: to_millis(issued),
            round,
            request: request_digest(request_id),
        };
        let sealed = self.protector.seal(&claims.encode(payload), context).await?;
        self.check_size(sealed.len())?;
        Ok(sealed)
    }

    fn check_size(&self, bytes: usize) -> Result<(), SealFailure> {
        let most = self.bounds.sealed_bytes;
        if bytes > most { Err(SealFailure::TooLarge { bytes, most }) } else { Ok(()) }
    }

    /// Opens a state that came with the request `request_id`.
    pub(crate) async fn open(
        &self,
        context: &StateContext,
        request_id: &RequestId,
        sealed: &str,
    ) -> Result<Opened, OpenFailure> {
        if sealed.len() > self.bounds.sealed_bytes {
            return Err(refused("too long"));
        }
        let mut bytes = self.protector.open(sealed, context).await?;
        let claims = Claims::decode(&bytes).ok_or_else(|| refused("not a state of this version"))?;
        self.check(&claims, context, request_id).map_err(refused)?;
        Ok(Opened { payload: bytes.split_off(Claims::BYTES), round: claims.round, id: claims.id })
    }

    /// Uses a state up, where each may be used once. The last thing before its handler runs: who is turned away for
    /// another reason may come again with it.
    pub(crate) async fn consume(&self, id: StateId, round: Round) -> Result<(), OpenFailure> {
        let Some(single_use) = &self.single_use else { return Ok(()) };
        let expires = from_millis(round.expires).ok_or_else(|| refused("never expires"))?;
        match single_use.consume(&id, expires).await? {
            true => Ok(()),
            false => Err(refused("used before")),
        }
    }

    fn check(
        &self,
        claims: &Claims,
        context: &StateContext,
        request_id: &RequestId,
    ) -> Result<(), &'static str> {
        if !bool::from(claims.binding.ct_eq(context.binding())) {
            return Err("of another request");
        }
        if claims.round.expires <= to_millis(self.clock.now()) {
            return Err("expired");
        }
        if claims.round.number > self.bounds.rounds {
            return Err("too many rounds");
        }
        // A retry is a request of its own (specification: `basic/patterns/mrtr`, client requirements 3).
        if claims.request == request_digest(request_id) {
            return Err("under the id of the request that it answered");
        }
        Ok(())
    }
}

/// The client is told nothing more, and the log nothing that is in the state.
fn refused(why: &'static str) -> OpenFailure {
    tracing::debug!(why, "a request's state was refused");
    OpenFailure::Refused
}

impl From<ProtectorError> for SealFailure {
    fn from(error: ProtectorError) -> Self {
        match error {
            ProtectorError::Refused => Self::Unavailable("the protector refused to seal a state".into()),
            ProtectorError::Unavailable(error) => Self::Unavailable(error),
        }
    }
}

impl From<ProtectorError> for OpenFailure {
    fn from(error: ProtectorError) -> Self {
        match error {
            ProtectorError::Refused => Self::Refused,
            ProtectorError::Unavailable(error) => Self::Unavailable(error),
        }
    }
}

/// For the server's log.
impl fmt::Display for SealFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { bytes, most } => write!(f, "the state has {bytes} bytes; {most} are allowed"),
            Self::TooManyRounds { most } => {
                write!(f, "the request has gone through all of its {most} rounds")
            }
            Self::Unavailable(error) => write!(f, "the state can't be sealed: {error}"),
        }
    }
}

/// For the server's log.
impl fmt::Display for OpenFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str("the state is not valid"),
            Self::Unavailable(error) => write!(f, "the state can't be opened: {error}"),
        }
    }
}
