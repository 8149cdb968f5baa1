//! What is sealed beside the application's bytes.
//!
//! | Bytes | |
//! | --- | --- |
//! | 1 | version of this format, 1 |
//! | 16 | id of the state, random |
//! | 32 | binding: digest of what the state belongs to |
//! | 8 | when it was sealed, in milliseconds since the Unix epoch |
//! | 8 | when it expires, likewise |
//! | 4 | number of the round, from 1 |
//! | 32 | SHA-256 of the id, as JSON, of the request that was answered with it |
//! | all others | the application's |
//!
//! Numbers are big-endian. Every byte has one meaning, so equal claims have equal bytes.

use std::fmt;

use sha2::{Digest as _, Sha256};

use super::canonical::Sha;
use crate::protocol::RequestId;

const VERSION: u8 = 1;

/// The name of one sealed state: random, and never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub(super) [u8; 16]);

impl StateId {
    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// 32 hexadecimal digits.
impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateId({self})")
    }
}

/// One round of a request: the state that was sealed in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    /// From 1.
    pub(super) number: u32,
    /// In milliseconds since the Unix epoch; the same in all rounds of a request.
    pub(super) expires: u64,
}

impl Round {
    /// Which it is, from 1.
    pub(crate) fn number(self) -> u32 {
        self.number
    }
}

/// Everything in a state that is not the application's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claims {
    pub(super) id: StateId,
    pub(super) binding: Sha,
    /// In milliseconds since the Unix epoch.
    pub(super) issued: u64,
    pub(super) round: Round,
    /// Of the request that was answered with the state.
    pub(super) request: Sha,
}

impl Claims {
    /// How many bytes come before the application's.
    pub(super) const BYTES: usize = 1 + 16 + 32 + 8 + 8 + 4 + 32;

    /// The claims, and the application's bytes after them.
    pub(super) fn encode(&self, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::BYTES + payload.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.id.0);
        bytes.extend_from_slice(&self.binding);
        bytes.extend_from_slice(&self.issued.to_be_bytes());
        bytes.extend_from_slice(&self.round.expires.to_be_bytes());
        bytes.extend_from_slice(&self.round.number.to_be_bytes());
        bytes.extend_from_slice(&self.request);
        bytes.extend_from_slice(payload);
        bytes
    }

    /// The claims that bytes begin with, if they are of this version and make sense.
    pub(super) fn decode(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let version = take::<1>(rest)?;
        let claims = Self {
            id: StateId(take(rest)?),
            binding: take(rest)?,
            issued: u64::from_be_bytes(take(rest)?),
            round: Round {
                expires: u64::from_be_bytes(take(rest)?),
                number: u32::from_be_bytes(take(rest)?),
            },
            request: take(rest)?,
        };
        let makes_sense = claims.issued <= claims.round.expires && claims.round.number > 0;
        (version == [VERSION] && makes_sense).then_some(claims)
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

/// What stands for a request's id in a state: ids have no bound that is ours. `1` and `"1"` differ.
pub(super) fn request_digest(id: &RequestId) -> Sha {
    let mut json = Vec::new();
    id.write_json(&mut json);
    Sha256::digest(&json).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Claims {
        Claims {
            id: StateId([1; 16]),
            binding: [2; 32],
            issued: 3,
            round: Round { number: 5, expires: 4 },
            request: [6; 32],
        }
    }

    #[test]
    fn claims_round_trip() {
        for payload in [&b""[..], b"state"] {
            let bytes = claims().encode(payload);
            assert_eq!(Claims::decode(&bytes), Some(claims()));
            assert_eq!(&bytes[Claims::BYTES..], payload);
        }
    }

    #[test]
    fn what_is_too_short_of_another_version_or_senseless_is_refused() {
        let bytes = claims().encode(b"");
        for length in 0..bytes.len() {
            assert_eq!(Claims::decode(&bytes[..length]), None, "{length}");
        }
        for version in [0, 2, 255] {
            assert_eq!(Claims::decode(&[&[version], &bytes[1..]].concat()), None);
        }
        let late = Claims { issued: 5, ..claims() };
        let none = Claims { round: Round { number: 0, expires: 4 }, ..claims() };
        for senseless in [late, none] {
            assert_eq!(Claims::decode(&senseless.encode(b"")), None);
        }
    }

    #[test]
    fn a_number_and_its_digits_are_different_requests() {
        assert_ne!(request_digest(&1.into()), request_digest(&"1".into()));
        assert_eq!(
            request_digest(&"1".into()),
            request_digest(&RequestId::from_json(r#""\u0031""#).unwrap())
        );
    }

    #[test]
    fn an_id_is_shown_in_hexadecimal_digits() {
        let id = StateId([0xa0; 16]);
        assert_eq!(id.to_string(), "a0".repeat(16));
        assert_eq!(format!("{id:?}"), format!("StateId({id})"));
        assert_eq!(id.as_bytes(), &[0xa0; 16]);
    }
}
