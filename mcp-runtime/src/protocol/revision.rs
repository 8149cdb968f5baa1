//! The revisions of the protocol that this crate knows.

use std::fmt;
use std::str::FromStr;

/// A revision of the protocol, named after its date.
///
/// Revisions order by age: an older one is less than a newer one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// `2025-06-18`, opened by `initialize`.
    V2025_06_18,
    /// `2025-11-25`, opened by `initialize`.
    V2025_11_25,
    /// `2026-07-28`, where every request carries its own metadata.
    V2026_07_28,
}

impl Revision {
    /// Every known revision, oldest first.
    pub const ALL: [Self; 3] = [Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The newest known revision.
    pub const LATEST: Self = Self::V2026_07_28;

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of this name, if it is known.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == name)
    }

    /// Whether requests carry their own metadata instead of belonging to a session.
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }

    /// Whether tools, prompts, resources and servers may have icons; a server also a description and a home page.
    pub(crate) const fn has_icons(self) -> bool {
        !matches!(self, Self::V2025_06_18)
    }

    /// Whether arguments that don't fit a tool are its result, which the model reads, and not an error of the request.
    pub(crate) const fn tells_models_of_bad_arguments(self) -> bool {
        !matches!(self, Self::V2025_06_18)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::parse(name).ok_or(UnknownRevision)
    }
}

/// The name is not that of a known [`Revision`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRevision;

impl fmt::Display for UnknownRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown protocol revision")
    }
}

impl std::error::Error for UnknownRevision {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for revision in Revision::ALL {
            assert_eq!(revision.as_str().parse(), Ok(revision));
            assert_eq!(revision.to_string(), revision.as_str());
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        for name in ["", "2024-11-05", "2026-07-28 ", "2026-7-28", "latest"] {
            assert_eq!(name.parse::<Revision>(), Err(UnknownRevision), "{name:?}");
        }
    }

    #[test]
    fn all_is_ordered_by_age_and_ends_with_the_latest() {
        assert!(Revision::ALL.is_sorted());
        assert!(Revision::ALL.iter().enumerate().all(|(at, revision)| *revision as usize == at));
        assert_eq!(Revision::ALL.last(), Some(&Revision::LATEST));
    }

    #[test]
    fn only_the_latest_is_modern() {
        assert_eq!(Revision::ALL.map(Revision::is_modern), [false, false, true]);
    }
}
