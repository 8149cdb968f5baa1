//! Random bytes.

use super::protector::ProtectorError;

/// Bytes that nobody can guess, from the operating system.
pub(super) fn random<const N: usize>() -> Result<[u8; N], ProtectorError> {
    let mut bytes = [0; N];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(ProtectorError::Unavailable(format!("no random bytes: {error}").into())),
    }
}
