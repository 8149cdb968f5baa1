//! Turning a state into an opaque text and back.

use std::{error::Error, fmt, future::Future, pin::Pin};

use super::context::StateContext;

pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// Turns bytes into a text that goes through the hands of the client, and back.
///
/// [`KeyRing`](super::KeyRing) is the one to take. One of your own may ask a key service, or keep the bytes in a
/// database and hand out their name. It has to make sure that a text opens only to the bytes that were sealed
/// (specification: `basic/patterns/mrtr`, server requirements 5), and had better keep them secret. What a state
/// belongs to, when it expires and in which round it was made is within the bytes, and checked by the framework after
/// they are opened: so a protector that makes no use of the context is bound by it all the same.
///
/// ```
/// use std::{collections::HashMap, sync::Mutex};
/// use mcp_runtime::request_state::{ProtectorError, StateContext, StateProtector};
///
/// /// Keeps the states of this process, and hands out their numbers.
/// #[derive(Default)]
/// struct Kept(Mutex<HashMap<String, Vec<u8>>>);
///
/// impl StateProtector for Kept {
///     async fn seal(&self, state: &[u8], _: &StateContext) -> Result<String, ProtectorError> {
///         let mut kept = self.0.lock().map_err(|_| ProtectorError::Unavailable("broken".into()))?;
///         let name = kept.len().to_string();
///         kept.insert(name.clone(), state.to_vec());
///         Ok(name)
///     }
///
///     async fn open(&self, sealed: &str, _: &StateContext) -> Result<Vec<u8>, ProtectorError> {
///         let kept = self.0.lock().map_err(|_| ProtectorError::Unavailable("broken".into()))?;
///         kept.get(sealed).cloned().ok_or(ProtectorError::Refused)
///     }
/// }
/// ```
pub trait StateProtector: Send + Sync + 'static {
    /// Seals a state.
    ///
    /// # Errors
    /// [`ProtectorError::Unavailable`] if that can't be done now.
    fn seal(
        &self,
        state: &[u8],
        context: &StateContext,
    ) -> impl Future<Output = Result<String, ProtectorError>> + Send;

    /// Opens what [`seal`](Self::seal) made; `sealed` is whatever the client sent.
    ///
    /// # Errors
    /// [`ProtectorError::Refused`] for a text that is not one of its own as it was made, and
    /// [`ProtectorError::Unavailable`] if that can't be found out now.
    fn open(
        &self,
        sealed: &str,
        context: &StateContext,
    ) -> impl Future<Output = Result<Vec<u8>, ProtectorError>> + Send;
}

/// Why a state was not sealed or opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum ProtectorError {
    /// The text is none that this protector made for this context: forged, damaged, foreign, or too old. The client
    /// hears that its state is not valid, and nothing else.
    Refused,
    /// What it takes is out of reach, for now. The client hears that the server can't answer; the cause goes to the
    /// server's log.
    Unavailable(BoxError),
}

impl fmt::Display for ProtectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str("the state was refused"),
            Self::Unavailable(error) => write!(f, "the state's protector is not available: {error}"),
        }
    }
}

impl Error for ProtectorError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Refused => None,
            Self::Unavailable(error) => Some(&**error),
        }
    }
}

type Sealing<'a, T> = Pin<Box<dyn Future<Output = Result<T, ProtectorError>> + Send + 'a>>;

/// A [`StateProtector`] whose type is forgotten.
pub(crate) trait DynStateProtector: Send + Sync {
    fn seal<'a>(&'a self, state: &'a [u8], context: &'a StateContext) -> Sealing<'a, String>;
    fn open<'a>(&'a self, sealed: &'a str, context: &'a StateContext) -> Sealing<'a, Vec<u8>>;
}

impl<P: StateProtector> DynStateProtector for P {
    fn seal<'a>(&'a self, state: &'a [u8], context: &'a StateContext) -> Sealing<'a, String> {
        Box::pin(StateProtector::seal(self, state, context))
    }

    fn open<'a>(&'a self, sealed: &'a str, context: &'a StateContext) -> Sealing<'a, Vec<u8>> {
        Box::pin(StateProtector::open(self, sealed, context))
    }
}
