//! What a request of several rounds remembers, sealed (specification: `basic/patterns/mrtr`).
//!
//! A handler that needs an answer of its client first ends the round with a question and a state; the client sends the
//! state back with its answer, to whichever server of a fleet. In between, no server remembers anything, and the state
//! is in the hands of the client. So it is sealed: by a [`KeyRing`], or by a [`StateProtector`] of your own.
//!
//! ```
//! use mcp_runtime::request_state::{KeyError, KeyRing, StateKey};
//!
//! # fn main() -> Result<(), KeyError> {
//! # let secret = [[1; 16], [2; 16]].concat();
//! // The same secret of 32 random bytes on all servers.
//! let ring = KeyRing::new(StateKey::new("2026-07", secret)?);
//! # Ok(())
//! # }
//! ```
//!
//! # What a state is good for
//!
//! - The same caller, at the same endpoint, in the same revision and method, with the same parameters: what differs is
//!   refused, as [`StateContext::binding`] says in detail.
//! - A request of its own: not one that repeats the id of the request that was answered with the state.
//! - Fifteen minutes from the first round on, and ten rounds, unless the server sets other bounds.
//! - As often as the client likes within that time, unless the server has a [`SingleUse`].
//!
//! Whatever is wrong, the client hears the same: the state is not valid. The log says more, at the level `debug`.

mod canonical;
mod claims;
mod clock;
mod context;
mod key;
pub(crate) mod measured;
mod protector;
mod random;
mod ring;
mod sealed;
mod sealer;
mod single_use;
#[cfg(test)]
mod tests;

#[allow(unused_imports)]
pub(crate) use self::{
    claims::Round,
    protector::DynStateProtector,
    sealer::{OpenFailure, Opened, SealFailure, StateBounds, StateSealer},
    single_use::DynSingleUse,
};
pub use self::{
    claims::StateId,
    context::StateContext,
    key::{KeyError, StateKey},
    protector::{ProtectorError, StateProtector},
    ring::{KeyInfo, KeyRing, KeyState},
    single_use::{InMemorySingleUse, SingleUse},
};
