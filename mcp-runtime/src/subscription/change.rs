//! What can change, as coarse as a hint is.

use std::{fmt, sync::Arc};

pub use crate::protocol::ChangeKind;
use crate::protocol::normal_uri;

/// Something that has changed. It says nothing but what: whoever hears of it fetches the current state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The lists of resources and templates.
    Resources,
    /// The content of one resource.
    Resource(ResourceUri),
    /// Anything may have changed: what a publisher says after it was cut off from the others.
    Everything,
}

impl Change {
    /// The content of the resource at an absolute URI.
    ///
    /// # Errors
    /// If `uri` is none.
    pub fn resource(uri: &str) -> Result<Self, InvalidUri> {
        ResourceUri::new(uri).map(Self::Resource)
    }
}

/// The absolute URI of a resource in its normal form (RFC 3986 §6.2.2), so that all spellings of one URI are equal.
///
/// `Debug` shows the scheme only, since URIs may name people and secrets.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceUri(Arc<str>);

impl ResourceUri {
    /// The normal form of a URI.
    ///
    /// # Errors
    /// If `uri` is not absolute: without a scheme, or with characters that no URI has.
    pub fn new(uri: &str) -> Result<Self, InvalidUri> {
        normal_uri(uri).map(|normal| Self(normal.into())).ok_or(InvalidUri)
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:…", self.0.split(':').next().unwrap_or_default())
    }
}

/// A text that is no absolute URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidUri;

impl fmt::Display for InvalidUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not an absolute URI: expected a scheme, such as `file:///a.txt`, and only URI characters",
        )
    }
}

impl std::error::Error for InvalidUri {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_uri_are_one_change() {
        assert_eq!(Change::resource("X://HOST/a/./b%2e"), Change::resource("x://host/a/b."));
        assert_eq!(Change::resource("/a"), Err(InvalidUri));
    }

    #[test]
    fn a_printed_change_does_not_tell_the_uri() {
        let change = Change::resource("users://ada/secret").unwrap();
        assert_eq!(format!("{change:?}"), "Resource(users:…)");
    }
}
