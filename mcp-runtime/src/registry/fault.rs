//! What is wrong with a server that can't be built.

use std::fmt;

/// Everything that is wrong, at once.
#[derive(Clone, PartialEq, Eq)]
pub struct BuildError {
    faults: Vec<BuildFault>,
}

/// One thing that is wrong, where it is, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildFault {
    /// The item and its `file:line`, where there is one.
    pub place: Option<String>,
    /// What is wrong, and the way out.
    pub message: String,
}

impl BuildFault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { place: None, message: message.into() }
    }

    pub(crate) fn at(place: impl fmt::Display, message: impl Into<String>) -> Self {
        Self { place: Some(place.to_string()), message: message.into() }
    }
}

impl BuildError {
    /// An error if there are any faults.
    pub(crate) fn check(faults: Vec<BuildFault>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self { faults }) }
    }

    /// All that is wrong; never empty.
    #[must_use]
    pub fn faults(&self) -> &[BuildFault] {
        &self.faults
    }
}

impl From<BuildFault> for BuildError {
    fn from(fault: BuildFault) -> Self {
        Self { faults: vec![fault] }
    }
}

impl fmt::Display for BuildFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.faults.as_slice() {
            [fault] => write!(f, "the server can't be built: {fault}"),
            faults => {
                write!(f, "the server can't be built, for {} reasons:", faults.len())?;
                faults.iter().try_for_each(|fault| write!(f, "\n  - {fault}"))
            }
        }
    }
}

/// As `Display`: this is what a `main` that returns it prints.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for BuildError {}
