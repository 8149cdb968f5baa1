//! The keys of a ring.

use std::{error::Error, fmt, sync::Arc};

use chacha20poly1305::{AeadInOut as _, KeyInit as _, Tag, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize as _, Zeroizing};

use super::canonical::Sha;
use crate::protocol::is_token;

/// Bytes of a nonce.
pub(super) const NONCE: usize = 24;
/// Bytes of a tag.
pub(super) const TAG: usize = 16;
/// How long a key's id may be, in bytes: one byte says so in a sealed text.
pub(super) const MAX_ID: usize = 64;
/// How long a master key is at least, in bytes.
const MIN_MASTER: usize = 32;

/// The version of the derivation.
const SALT: &[u8] = b"mcp-runtime/request-state/1";

/// A key of a [`KeyRing`](super::KeyRing), derived from a master key that it does not keep.
///
/// What it holds is erased when it is dropped, and it shows its id only.
pub struct StateKey {
    id: Arc<str>,
    cipher: XChaCha20Poly1305,
    /// Depends on the master key only: tells equal ones.
    identity: Zeroizing<Sha>,
}

impl StateKey {
    /// Derives a key, by HKDF-SHA-256, from a master key that is known to the servers of a fleet and to nobody else:
    /// 32 bytes or more from a source of random bytes, such as `openssl rand -hex 32` decoded. The caller erases its
    /// own copy.
    ///
    /// The id, such as `2026-07`, tells keys apart. It stands readable in every sealed text.
    ///
    /// # Errors
    /// [`KeyError::Id`] for an id that is not 1 to 64 characters of an HTTP token, [`KeyError::Short`] and
    /// [`KeyError::Uniform`] for what can't be a random key.
    pub fn new(id: impl Into<Arc<str>>, master: impl AsRef<[u8]>) -> Result<Self, KeyError> {
        let (id, master) = (id.into(), master.as_ref());
        if id.len() > MAX_ID || !is_token(&id) {
            return Err(KeyError::Id);
        }
        if master.len() < MIN_MASTER {
            return Err(KeyError::Short);
        }
        if master.iter().all(|byte| *byte == master[0]) {
            return Err(KeyError::Uniform);
        }
        let (mut extracted, derivation) = Hkdf::<Sha256>::extract(Some(SALT), master);
        extracted.as_mut_slice().zeroize();
        let derive = |info: &[&[u8]]| {
            let mut key = Zeroizing::new([0; 32]);
            let derived = derivation.expand_multi_info(info, key.as_mut_slice());
            derived.expect("32 bytes are within the 8,160 that can be derived");
            key
        };
        let cipher = XChaCha20Poly1305::new((&*derive(&[b"aead/", id.as_bytes()])).into());
        Ok(Self { identity: derive(&[b"identity"]), cipher, id })
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn shared_id(&self) -> &Arc<str> {
        &self.id
    }

    /// What tells its master key, and says nothing about it.
    pub(super) fn identity(&self) -> &Sha {
        &self.identity
    }

    /// Whether both come of one master key, in constant time.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.identity.ct_eq(&*other.identity).into()
    }

    /// Encrypts a text where it is. `None` for one that is too long for the cipher: 256 GiB.
    pub(super) fn encrypt(&self, nonce: &[u8; NONCE], data: &[u8], text: &mut [u8]) -> Option<[u8; TAG]> {
        self.cipher.encrypt_inout_detached(&XNonce::from(*nonce), data, text.into()).ok().map(Into::into)
    }

    /// Decrypts a text where it is, if its tag is right.
    pub(super) fn decrypt(
        &self,
        nonce: &[u8; NONCE],
        data: &[u8],
        text: &mut [u8],
        tag: &[u8; TAG],
    ) -> Option<()> {
        self.cipher.decrypt_inout_detached(&XNonce::from(*nonce), data, text.into(), &Tag::from(*tag)).ok()
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why there is no such key, or a ring does not take it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The id is not 1 to 64 characters of an HTTP token.
    Id,
    /// The master key has fewer than 32 bytes.
    Short,
    /// All bytes of the master key are equal.
    Uniform,
    /// The system has no random bytes.
    Random,
    /// The ring has another key of this id.
    IdTaken(Arc<str>),
    /// The ring has this master key, under this other id.
    KeyTaken(Arc<str>),
    /// The ring has no key of this id.
    Unknown(Arc<str>),
    /// The key of this id seals; another one has to be activated before it can go.
    Active(Arc<str>),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id => {
                f.write_str("a key's id is 1 to 64 characters: letters, digits and any of !#$%&'*+-.^_`|~")
            }
            Self::Short => f.write_str("a master key has 32 bytes at least"),
            Self::Uniform => f.write_str("a master key is random; all bytes of this one are equal"),
            Self::Random => f.write_str("the system has no random bytes"),
            Self::IdTaken(id) => write!(f, "the ring has another key `{id}`"),
            Self::KeyTaken(id) => write!(f, "the ring has this key already, as `{id}`"),
            Self::Unknown(id) => write!(f, "the ring has no key `{id}`"),
            Self::Active(id) => write!(f, "the key `{id}` is active: activate another one first"),
        }
    }
}

impl Error for KeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn master() -> Vec<u8> {
        (0..32).collect()
    }

    fn fault(id: &str, master: impl AsRef<[u8]>) -> KeyError {
        StateKey::new(id, master).unwrap_err()
    }

    #[test]
    fn ids_are_tokens_of_64_characters_at_most() {
        for id in ["a", "2026-07.b_~", &"x".repeat(64)] {
            assert_eq!(StateKey::new(id, master()).unwrap().id(), id);
        }
        for id in ["", "a b", "a/b", "é", "a\n", &"x".repeat(65)] {
            assert_eq!(fault(id, master()), KeyError::Id, "{id:?}");
        }
    }

    #[test]
    fn master_keys_are_long_and_not_uniform() {
        assert_eq!(fault("a", &master()[1..]), KeyError::Short);
        assert_eq!(fault("a", []), KeyError::Short);
        assert_eq!(fault("a", [7; 32]), KeyError::Uniform);
        assert_eq!(fault("a", [0; 99]), KeyError::Uniform);
        assert!(StateKey::new("a", [[0; 32], [1; 32]].concat()).is_ok());
    }

    #[test]
    fn a_key_depends_on_its_id_and_its_identity_does_not() {
        let [a, b] = ["a", "b"].map(|id| StateKey::new(id, master()).unwrap());
        let other = StateKey::new("a", (1..33).collect::<Vec<u8>>()).unwrap();
        assert!(a.is_same(&b) && !a.is_same(&other));
        let mut text = *b"text";
        let tag = a.encrypt(&[0; NONCE], b"data", &mut text).unwrap();
        for wrong in [&b, &other] {
            assert_eq!(wrong.decrypt(&[0; NONCE], b"data", &mut text.clone(), &tag), None);
        }
        assert_eq!(a.decrypt(&[0; NONCE], b"data", &mut text, &tag), Some(()));
        assert_eq!(&text, b"text");
    }

    #[test]
    fn a_key_shows_its_id_only() {
        assert_eq!(format!("{:?}", StateKey::new("a", master()).unwrap()), r#"StateKey { id: "a", .. }"#);
    }
}
