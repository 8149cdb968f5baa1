//! What a sealed state looks like.
//!
//! `mcp1.`, and then in unpadded base64url:
//!
//! | Bytes | |
//! | --- | --- |
//! | 1 | length of the key's id |
//! | 1 to 64 | the key's id |
//! | 24 | nonce |
//! | all others | the state, encrypted by XChaCha20-Poly1305 |
//! | 16 | tag |
//!
//! The associated data is the label below, the length of the key's id, the id, and the binding of the request. One text
//! only opens: no spaces, no padding, no bits to spare at the end.
//!
//! A nonce is 24 random bytes. So many can be drawn at random by all servers of a fleet, forever, without one coming
//! twice: it takes 2^80 states under one key for a chance of one in 2^33. Nothing has to be counted, and servers have
//! nothing to agree upon.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::{
    canonical::Sha,
    key::{NONCE, StateKey, TAG},
};

/// Names the format.
pub(super) const PREFIX: &str = "mcp1.";

/// What the associated data begins with.
const LABEL: &[u8] = b"mcp-runtime/request-state/sealed/1";

/// Why a text does not open; for the log only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unopened {
    /// It has another form.
    Form,
    /// It names a key that is not there.
    Key,
    /// It was not sealed by this key for this request, or was changed since.
    Tag,
}

impl Unopened {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Form => "not a sealed state",
            Self::Key => "no such key",
            Self::Tag => "not authentic",
        }
    }
}

/// Seals a state. `None` if it is too long for the cipher.
pub(super) fn seal(key: &StateKey, nonce: &[u8; NONCE], binding: &Sha, state: &[u8]) -> Option<String> {
    let id = key.id().as_bytes();
    let mut bytes = Vec::with_capacity(1 + id.len() + NONCE + state.len() + TAG);
    bytes.push(u8::try_from(id.len()).ok()?);
    bytes.extend_from_slice(id);
    bytes.extend_from_slice(nonce);
    let start = bytes.len();
    bytes.extend_from_slice(state);
    let tag = key.encrypt(nonce, &associated_data(id, binding), &mut bytes[start..])?;
    bytes.extend_from_slice(&tag);
    let mut text = String::with_capacity(PREFIX.len() + bytes.len().div_ceil(3) * 4);
    text.push_str(PREFIX);
    URL_SAFE_NO_PAD.encode_string(bytes, &mut text);
    Some(text)
}

/// Opens a text by the key that `find` has for the id it names.
pub(super) fn open<'k>(
    text: &str,
    binding: &Sha,
    find: impl FnOnce(&[u8]) -> Option<&'k StateKey>,
) -> Result<Vec<u8>, Unopened> {
    let encoded = text.strip_prefix(PREFIX).ok_or(Unopened::Form)?;
    let mut bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| Unopened::Form)?;
    let (id, nonce, tag) = parts(&bytes).ok_or(Unopened::Form)?;
    let key = find(id).ok_or(Unopened::Key)?;
    let data = associated_data(id, binding);
    let start = 1 + id.len() + NONCE;
    bytes.truncate(bytes.len() - TAG);
    key.decrypt(&nonce, &data, &mut bytes[start..], &tag).ok_or(Unopened::Tag)?;
    bytes.drain(..start);
    Ok(bytes)
}

/// The key's id, the nonce and the tag.
fn parts(bytes: &[u8]) -> Option<(&[u8], [u8; NONCE], [u8; TAG])> {
    let (&length, rest) = bytes.split_first()?;
    let (id, rest) = rest.split_at_checked(length.into())?;
    let (nonce, rest) = rest.split_first_chunk()?;
    Some((id, *nonce, *rest.last_chunk()?))
}

fn associated_data(id: &[u8], binding: &Sha) -> Vec<u8> {
    let mut data = Vec::with_capacity(LABEL.len() + 1 + id.len() + binding.len());
    data.extend_from_slice(LABEL);
    // One byte of the text says so.
    data.push(id.len() as u8);
    data.extend_from_slice(id);
    data.extend_from_slice(binding);
    data
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BINDING: Sha = [9; 32];

    fn key() -> StateKey {
        StateKey::new("2026-07", (0..32).collect::<Vec<u8>>()).unwrap()
    }

    fn sealed(state: &[u8]) -> String {
        seal(&key(), &[7; NONCE], &BINDING, state).unwrap()
    }

    fn opened(text: &str) -> Result<Vec<u8>, Unopened> {
        let key = key();
        open(text, &BINDING, |id| (id == b"2026-07").then_some(&key))
    }

    #[test]
    fn one_text_only_opens() {
        for length in 0..4 {
            let state = vec![b'x'; length];
            let text = sealed(&state);
            assert_eq!(opened(&text), Ok(state));
            for wrong in [
                format!("{text}="),
                format!("{text}=="),
                format!("{text} "),
                format!(" {text}"),
                format!("{text}\n"),
                format!("{text}A"),
                format!("{text}AAAA"),
                text.replacen("mcp1.", "MCP1.", 1),
                text.replacen("mcp1.", "mcp2.", 1),
                text.replacen("mcp1.", "", 1),
                text.replacen("mcp1.", "mcp1..", 1),
            ] {
                assert!(opened(&wrong).is_err(), "{wrong}");
            }
            // Bits to spare at the end may not be set.
            let last = text.as_bytes()[text.len() - 1];
            for other in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/" {
                let changed = format!("{}{}", &text[..text.len() - 1], char::from(*other));
                assert_eq!(opened(&changed).is_ok(), *other == last, "{changed}");
            }
        }
    }

    #[test]
    fn every_byte_counts() {
        let text = sealed(b"state");
        let bytes = URL_SAFE_NO_PAD.decode(&text[PREFIX.len()..]).unwrap();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let changed = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(&changed));
                assert!(opened(&changed).is_err(), "bit {bit} of byte {at}");
            }
            assert!(opened(&format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(&bytes[..at]))).is_err(), "{at}");
            assert!(
                opened(&format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(&bytes[at + 1..]))).is_err(),
                "{at}"
            );
        }
        assert_eq!(opened("mcp1."), Err(Unopened::Form));
        assert_eq!(opened(""), Err(Unopened::Form));
    }

    #[test]
    fn a_text_opens_for_its_binding_only() {
        let key = key();
        assert_eq!(open(&sealed(b"state"), &[8; 32], |_| Some(&key)), Err(Unopened::Tag));
        assert_eq!(open(&sealed(b"state"), &BINDING, |_| None), Err(Unopened::Key));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_state_round_trips(state: Vec<u8>) {
            prop_assert_eq!(opened(&sealed(&state)), Ok(state));
        }

        #[test]
        fn no_text_makes_it_panic(text in "(mcp1\\.)?[A-Za-z0-9_=é-]{0,120}") {
            prop_assert!(opened(&text).is_err());
        }
    }
}
