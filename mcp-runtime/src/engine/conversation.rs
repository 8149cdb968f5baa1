//! What was agreed upon on a byte stream.

use std::sync::{Arc, OnceLock};

use crate::protocol::{Introduction, Revision};

/// All that is said on one byte stream. `initialize` opens it for the requests of older revisions that follow; modern
/// requests, which bring along what is to be known, may stand between them.
#[derive(Debug, Default)]
pub(crate) struct Conversation(OnceLock<Opened>);

#[derive(Debug)]
struct Opened {
    revision: Revision,
    client: Arc<Introduction>,
}

/// A conversation was opened before.
#[derive(Debug)]
pub(super) struct OpenAlready;

impl Conversation {
    /// Opens it, for good.
    pub(super) fn open(&self, revision: Revision, client: Introduction) -> Result<(), OpenAlready> {
        self.0.set(Opened { revision, client: Arc::new(client) }).map_err(|_| OpenAlready)
    }

    /// The revision that was agreed upon, if it is open.
    pub(super) fn revision(&self) -> Option<Revision> {
        self.0.get().map(|opened| opened.revision)
    }

    /// What the client said of itself.
    pub(super) fn client(&self) -> Option<Arc<Introduction>> {
        self.0.get().map(|opened| Arc::clone(&opened.client))
    }
}
