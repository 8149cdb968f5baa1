//! `initialize`, by which a client of an older revision begins (specification of 2025-11-25: `basic/lifecycle`).
//!
//! There are no sessions. Over HTTP it is a question like any other: its answer has no session id, and nothing is
//! remembered. On a byte stream it opens the conversation.

use super::{
    Answer, Engine, Reply,
    conversation::{Conversation, OpenAlready},
    handling::Started,
    request::{Admitted, Refused},
    target::bad_params,
};
use crate::protocol::{Condition, InitializeParams, Params, ProtocolError, Revision, write_response};

/// The revision that a client proposes, whether it is known or not.
pub(super) fn proposed(params: &Params<'_>) -> Option<String> {
    serde_json::from_str(params.other("protocolVersion")?.get()).ok()
}

impl Engine {
    /// The revision that is agreed upon: the proposed one, if it is served and opened in this way; else the newest of
    /// those. That is the answer to 2026-07-28, too, which knows no `initialize`.
    pub(super) fn negotiated(&self, params: &Params<'_>, newest: Revision) -> Revision {
        let proposed = proposed(params).and_then(|name| Revision::parse(&name));
        proposed.filter(|revision| self.catalog.initialize(*revision).is_some()).unwrap_or(newest)
    }

    pub(super) fn initialize(
        &self,
        request: &Admitted<'_>,
        conversation: Option<&Conversation>,
    ) -> Result<Started<'static>, Refused> {
        let InitializeParams { proposed, client } =
            InitializeParams::read(&request.envelope.params).map_err(bad_params)?;
        let revision = request.revision;
        tracing::debug!(proposed, %revision, client = client.info.as_ref().map(|info| &*info.name), "initialize");
        if let Some(conversation) = conversation {
            conversation.open(revision, client).map_err(|OpenAlready| {
                ProtocolError::new(Condition::InvalidRequest, "`initialize` was sent before")
            })?;
        }
        let mut message = Vec::new();
        // Only a revision that has this result is agreed upon.
        let result = self.catalog.initialize(revision).map(|result| &**result).unwrap_or(b"{}");
        write_response(request.id, &mut message, |out| out.extend_from_slice(result));
        Ok(Started::Answered(Reply::Answer(Answer::ok(message))))
    }
}
