//! The keys that seal and open the states of a fleet.

use std::{fmt, sync::Arc};

use arc_swap::ArcSwap;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::{
    context::StateContext,
    key::{KeyError, NONCE, StateKey},
    protector::{ProtectorError, StateProtector},
    random::random,
    sealed,
};

/// What the digest of a fingerprint begins with.
const FINGERPRINT: &[u8] = b"mcp-runtime/request-state/fingerprint/1";

/// Seals states with one key, and opens them with any of several.
///
/// All servers of a fleet have equal rings, so that each opens what any other has sealed. A clone is the same ring:
/// what is done to one of them, all of them do from the next state on, and nobody waits.
///
/// A state is encrypted by XChaCha20-Poly1305, under a key that [`StateKey`] derives. The client can't read it.
///
/// # A new key
///
/// ```
/// use mcp_runtime::request_state::{KeyError, KeyRing, KeyState, StateKey};
///
/// # fn main() -> Result<(), KeyError> {
/// # let (july, august) = ([[1; 16], [2; 16]].concat(), [[3; 16], [4; 16]].concat());
/// let ring = KeyRing::new(StateKey::new("2026-07", july)?);
///
/// // 1. On every server: the new key opens, and does not seal yet.
/// ring.stage(StateKey::new("2026-08", august)?)?;
/// // 2. Go on when all servers say the same.
/// println!("{}", ring.fingerprint());
/// // 3. On every server: it seals.
/// ring.activate("2026-08")?;
/// // 4. When the lifetime of a state has passed since the last server did so: the old key goes.
/// ring.retire("2026-07")?;
/// assert_eq!(ring.keys().len(), 1);
/// # Ok(())
/// # }
/// ```
///
/// Each step may be taken twice; it then says `false`.
#[derive(Clone)]
pub struct KeyRing(Arc<Shared>);

struct Shared {
    keys: ArcSwap<Keys>,
    development: bool,
}

#[derive(Clone)]
struct Keys {
    active: Arc<StateKey>,
    others: Vec<Arc<StateKey>>,
}

/// A key of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its id.
    pub id: Arc<str>,
    /// What it does.
    pub state: KeyState,
}

/// What a key of a ring does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyState {
    /// It seals, and opens what it has sealed.
    Active,
    /// It opens what it has sealed.
    OpensOnly,
}

impl KeyRing {
    /// A ring of one key, which seals.
    #[must_use]
    pub fn new(key: StateKey) -> Self {
        Self::with(key, false)
    }

    /// A ring of a random key. Nothing that it has sealed opens when the process is gone, or on another server: this
    /// is for development, and the server warns of it when it starts.
    ///
    /// # Errors
    /// [`KeyError::Random`] if the system has no random bytes.
    pub fn development() -> Result<Self, KeyError> {
        let master = Zeroizing::new(random::<32>().map_err(|_| KeyError::Random)?);
        Ok(Self::with(StateKey::new("development", master.as_slice())?, true))
    }

    fn with(active: StateKey, development: bool) -> Self {
        let keys = ArcSwap::from_pointee(Keys { active: Arc::new(active), others: Vec::new() });
        Self(Arc::new(Shared { keys, development }))
    }

    /// Whether it was made by [`development`](Self::development).
    #[must_use]
    pub fn is_development(&self) -> bool {
        self.0.development
    }

    /// Adds a key that opens and does not seal. `false` if it was there.
    ///
    /// # Errors
    /// [`KeyError::IdTaken`] if the ring has another key of this id, and [`KeyError::KeyTaken`] if it has this key
    /// under another one.
    pub fn stage(&self, key: StateKey) -> Result<bool, KeyError> {
        let key = Arc::new(key);
        self.change(|keys| {
            if let Some(known) = keys.find(key.id().as_bytes()) {
                return if known.is_same(&key) { Ok(None) } else { Err(KeyError::IdTaken(id_of(known))) };
            }
            match keys.all().find(|known| known.is_same(&key)) {
                Some(known) => Err(KeyError::KeyTaken(id_of(known))),
                None => Ok(Some(keys.with(&key))),
            }
        })
    }

    /// Lets the key of this id seal from now on; the one before opens only. `false` if it was active.
    ///
    /// # Errors
    /// [`KeyError::Unknown`] if there is no such key.
    pub fn activate(&self, id: &str) -> Result<bool, KeyError> {
        self.change(|keys| {
            if keys.active.id() == id {
                return Ok(None);
            }
            let active = keys.others.iter().find(|key| key.id() == id);
            let active = Arc::clone(active.ok_or_else(|| KeyError::Unknown(id.into()))?);
            let mut next = keys.without(id).with(&keys.active);
            next.active = active;
            Ok(Some(next))
        })
    }

    /// Removes a key: what it has sealed opens no more. `false` if there was none.
    ///
    /// # Errors
    /// [`KeyError::Active`] if it is the one that seals.
    pub fn retire(&self, id: &str) -> Result<bool, KeyError> {
        self.change(|keys| match keys.find(id.as_bytes()) {
            None => Ok(None),
            Some(key) if key.id() == keys.active.id() => Err(KeyError::Active(id_of(key))),
            Some(_) => Ok(Some(keys.without(id))),
        })
    }

    /// The keys: the active one first, then the others by their ids.
    #[must_use]
    pub fn keys(&self) -> Vec<KeyInfo> {
        let keys = self.0.keys.load();
        let info = |(at, key): (usize, &Arc<StateKey>)| KeyInfo {
            id: id_of(key),
            state: if at == 0 { KeyState::Active } else { KeyState::OpensOnly },
        };
        keys.all().enumerate().map(info).collect()
    }

    /// 32 hexadecimal digits that are equal for rings of equal keys, whichever is active: where they are, each opens
    /// what the other has sealed. They may be logged: a digest that is keyed with the keys tells nothing about them.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let keys = self.0.keys.load();
        let mut keys: Vec<_> = keys.all().collect();
        keys.sort_by(|a, b| a.id().cmp(b.id()));
        let mut digest = Sha256::new_with_prefix(FINGERPRINT);
        for key in keys {
            digest.update([key.id().len() as u8]);
            digest.update(key.id());
            digest.update(key.identity());
        }
        digest.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Replaces the keys by what `step` makes of them, unless it leaves them as they are; says whether it did.
    fn change(&self, step: impl Fn(&Keys) -> Result<Option<Keys>, KeyError>) -> Result<bool, KeyError> {
        let mut outcome = Ok(false);
        self.0.keys.rcu(|keys| {
            let next = step(keys);
            outcome = next.as_ref().map(Option::is_some).map_err(Clone::clone);
            next.ok().flatten().map_or_else(|| Arc::clone(keys), Arc::new)
        });
        if outcome == Ok(true) {
            let keys = self.0.keys.load();
            let others: Vec<&str> = keys.others.iter().map(|key| key.id()).collect();
            tracing::info!(active = keys.active.id(), ?others, "the keys of request states have changed");
        }
        outcome
    }

    pub(super) fn seal_now(&self, state: &[u8], context: &StateContext) -> Result<String, ProtectorError> {
        let nonce: [u8; NONCE] = random()?;
        sealed::seal(&self.0.keys.load().active, &nonce, context.binding(), state)
            .ok_or_else(|| ProtectorError::Unavailable("the state is too long for the cipher".into()))
    }

    pub(super) fn open_now(&self, text: &str, context: &StateContext) -> Result<Vec<u8>, ProtectorError> {
        let keys = self.0.keys.load();
        sealed::open(text, context.binding(), |id| keys.find(id)).map_err(|why| {
            tracing::debug!(why = why.as_str(), "a sealed state does not open");
            ProtectorError::Refused
        })
    }
}

impl Keys {
    fn all(&self) -> impl Iterator<Item = &Arc<StateKey>> {
        std::iter::once(&self.active).chain(&self.others)
    }

    fn find(&self, id: &[u8]) -> Option<&StateKey> {
        self.all().find(|key| key.id().as_bytes() == id).map(|key| &**key)
    }

    fn with(&self, key: &Arc<StateKey>) -> Self {
        let mut next = self.clone();
        let at = next.others.partition_point(|other| other.id() < key.id());
        next.others.insert(at, Arc::clone(key));
        next
    }

    fn without(&self, id: &str) -> Self {
        let mut next = self.clone();
        next.others.retain(|key| key.id() != id);
        next
    }
}

fn id_of(key: &StateKey) -> Arc<str> {
    Arc::clone(key.shared_id())
}

impl StateProtector for KeyRing {
    async fn seal(&self, state: &[u8], context: &StateContext) -> Result<String, ProtectorError> {
        self.seal_now(state, context)
    }

    async fn open(&self, sealed: &str, context: &StateContext) -> Result<Vec<u8>, ProtectorError> {
        self.open_now(sealed, context)
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRing").field("keys", &self.keys()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

    use super::{
        super::tests::{context, key, ring},
        *,
    };

    #[test]
    fn a_step_may_be_taken_twice_but_no_key_has_two_ids_and_no_id_two_keys() {
        let ring = ring();
        assert_eq!(ring.stage(key("a", 1)), Ok(false));
        assert_eq!(ring.stage(key("a", 2)), Err(KeyError::IdTaken("a".into())));
        assert_eq!(ring.stage(key("b", 1)), Err(KeyError::KeyTaken("a".into())));
        assert_eq!(ring.stage(key("c", 3)), Ok(true));
        assert_eq!(ring.stage(key("b", 2)), Ok(true));
        assert_eq!(ring.stage(key("b", 2)), Ok(false));
        assert_eq!(ring.stage(key("b", 3)), Err(KeyError::IdTaken("b".into())));
        assert_eq!(ring.stage(key("d", 2)), Err(KeyError::KeyTaken("b".into())));
        assert_eq!(ring.activate("d"), Err(KeyError::Unknown("d".into())));
        assert_eq!(ring.activate("a"), Ok(false));
        assert_eq!((ring.activate("c"), ring.activate("c")), (Ok(true), Ok(false)));
        let info = |id: &str, state| KeyInfo { id: id.into(), state };
        let [active, opens] = [KeyState::Active, KeyState::OpensOnly];
        assert_eq!(ring.keys(), [info("c", active), info("a", opens), info("b", opens)]);
        assert_eq!(ring.retire("c"), Err(KeyError::Active("c".into())));
        assert_eq!((ring.retire("a"), ring.retire("a")), (Ok(true), Ok(false)));
        assert_eq!(ring.keys(), [info("c", active), info("b", opens)]);
        assert_eq!(ring.stage(key("a", 1)), Ok(true), "what has gone may come back");
    }

    #[test]
    fn a_fingerprint_depends_on_keys_and_ids_and_on_no_order() {
        let ring_of = |ids: [(&str, u8); 2]| {
            let ring = KeyRing::new(key(ids[0].0, ids[0].1));
            ring.stage(key(ids[1].0, ids[1].1)).unwrap();
            ring.fingerprint()
        };
        let usual = ring_of([("a", 1), ("b", 2)]);
        assert_eq!(usual, ring_of([("b", 2), ("a", 1)]));
        for other in [[("a", 1), ("b", 3)], [("a", 2), ("b", 1)], [("a", 1), ("c", 2)]] {
            assert_ne!(usual, ring_of(other));
        }
        assert!(usual.len() == 32 && usual.bytes().all(|byte| byte.is_ascii_hexdigit()), "{usual}");
    }

    #[test]
    fn a_ring_shows_ids_only() {
        let shown = format!("{:?}", ring());
        assert_eq!(shown, r#"KeyRing { keys: [KeyInfo { id: "a", state: Active }], .. }"#);
    }

    #[test]
    fn keys_are_exchanged_while_others_seal_and_open() {
        let ring = ring();
        let ended = AtomicBool::new(false);
        let opened = [const { AtomicUsize::new(0) }; 2];
        let context = context();
        std::thread::scope(|scope| {
            for opened in &opened {
                scope.spawn(|| {
                    while !ended.load(Relaxed) {
                        let sealed = ring.seal_now(b"state", &context).unwrap();
                        assert_eq!(ring.open_now(&sealed, &context).unwrap(), b"state");
                        opened.fetch_add(1, Relaxed);
                    }
                });
            }
            for round in 0..100_u8 {
                let id = |round: u8| format!("key-{round}");
                ring.stage(key(&id(round), 50 + round)).unwrap();
                ring.activate(&id(round)).unwrap();
                // What was sealed before has to be opened before its key goes: here, that is a state's lifetime.
                for opened in &opened {
                    let before = opened.load(Relaxed);
                    while opened.load(Relaxed) < before + 2 {
                        std::thread::yield_now();
                    }
                }
                if let Some(old) = round.checked_sub(1) {
                    ring.retire(&id(old)).unwrap();
                }
            }
            ended.store(true, Relaxed);
        });
        assert_eq!(ring.keys().len(), 2);
    }
}
