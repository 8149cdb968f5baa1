//! Which revision a request speaks, whether it is served, and whether the request has what it asks for.

use super::{
    Engine, headers,
    initialize::proposed,
    request::{Carried, Refused, mismatch},
};
use crate::protocol::{Condition, Envelope, Fault, ProtocolError, Revision, excerpt};

impl Engine {
    /// All checks before admission; the revision that the request speaks.
    ///
    /// A notification is admitted and limited like a request; none of them has a further effect over HTTP.
    pub(super) fn check(&self, envelope: &Envelope<'_>, carried: &Carried) -> Result<Revision, Refused> {
        let revision = if envelope.id.is_none() {
            self.notified_revision(carried)
        } else if let Some(revision) = self.legacy_revision(envelope, carried)? {
            bad_meta(envelope.params.legacy_meta_faults()).map_err(|error| error.in_revision(revision))?;
            revision
        } else {
            self.check_modern(envelope, carried)?
        };
        self.check_running()?;
        Ok(revision)
    }

    fn check_modern(&self, envelope: &Envelope<'_>, carried: &Carried) -> Result<Revision, ProtocolError> {
        if carried.mirrored {
            let faults = headers::standard_faults(&carried.headers, envelope);
            if !faults.is_empty() {
                return Err(mismatch(faults));
            }
        }
        let revision = self.modern_revision(envelope, carried)?;
        bad_meta(envelope.params.meta_faults())?;
        Ok(revision)
    }

    /// The revision of a request of the era before per-request metadata; `None` for a modern one.
    ///
    /// Metadata that names a revision makes a request modern, whatever its headers say. Without it, `initialize` is
    /// older, and so is what has the header of an older revision or comes in a conversation that `initialize` opened.
    /// Over HTTP nothing is remembered of that: a request without the header is taken for one of the newest older
    /// revision that is served, and not for one of 2025-03-26, which never is.
    fn legacy_revision(
        &self,
        envelope: &Envelope<'_>,
        carried: &Carried,
    ) -> Result<Option<Revision>, ProtocolError> {
        if envelope.params.meta.value().is_some_and(|meta| !meta.protocol_version.is_absent()) {
            return Ok(None);
        }
        let Some(newest) = self.catalog.newest_legacy() else {
            return self.refuse_legacy(envelope, carried).map(|()| None);
        };
        let initializes = envelope.method == "initialize";
        match headers::plain(&carried.headers, &headers::PROTOCOL_VERSION) {
            Ok(None) => {}
            Ok(Some(name)) => match self.served(name) {
                None => return Err(self.unsupported(name)),
                // It may be sent with the header of the revision that it proposes.
                Some(_) if initializes => {}
                Some(revision) => return Ok(Some(revision).filter(|revision| !revision.is_modern())),
            },
            // It is told with all that is wrong with the headers of a modern request.
            Err(_) => return Ok(None),
        }
        if initializes {
            return Ok(Some(self.negotiated(&envelope.params, newest)));
        }
        match &carried.conversation {
            None => Ok(Some(newest)),
            Some(conversation) => match conversation.revision() {
                Some(revision) => Ok(Some(revision)),
                // Allowed before everything else.
                None if envelope.method == "ping" => Ok(Some(newest)),
                None => Err(self.unopened(envelope)),
            },
        }
    }

    /// The revision that a modern request speaks, by its metadata; by its header where that is missing.
    fn modern_revision(&self, envelope: &Envelope<'_>, carried: &Carried) -> Result<Revision, ProtocolError> {
        let named = envelope.params.meta.value().and_then(|meta| meta.protocol_version.value());
        let header = || headers::plain(&carried.headers, &headers::PROTOCOL_VERSION).ok().flatten();
        let Some(name) = named.map(|name| &**name).or_else(header) else {
            // What is missing is a fault of the metadata.
            return Ok(Revision::LATEST);
        };
        self.served(name).filter(|revision| revision.is_modern()).ok_or_else(|| self.unsupported(name))
    }

    /// The revision of a notification, which is taken in any: that of its header, or the newest.
    fn notified_revision(&self, carried: &Carried) -> Revision {
        let header = headers::plain(&carried.headers, &headers::PROTOCOL_VERSION).ok().flatten();
        let opened = || carried.conversation.as_ref()?.revision();
        let newest = || self.catalog.revisions.first().copied();
        header.and_then(|name| self.served(name)).or_else(opened).or_else(newest).unwrap_or(Revision::LATEST)
    }

    fn served(&self, name: &str) -> Option<Revision> {
        Revision::parse(name).filter(|revision| self.catalog.revisions.contains(revision))
    }

    /// Where no older revision is served, who speaks one learns what is.
    fn refuse_legacy(&self, envelope: &Envelope<'_>, carried: &Carried) -> Result<(), ProtocolError> {
        let header = headers::plain(&carried.headers, &headers::PROTOCOL_VERSION).ok().flatten();
        let legacy =
            header.filter(|name| Revision::parse(name).is_some_and(|revision| !revision.is_modern()));
        match legacy {
            Some(name) => Err(self.unsupported(name)),
            None if envelope.method == "initialize"
                && carried.headers.get(&headers::PROTOCOL_VERSION).is_none() =>
            {
                Err(self.unsupported(proposed(&envelope.params).as_deref().unwrap_or("none")))
            }
            None => Ok(()),
        }
    }

    fn unsupported(&self, requested: &str) -> ProtocolError {
        let (requested, supported) = (excerpt(requested), self.catalog.revision_names());
        let message = match self.served(&requested) {
            Some(revision) => {
                format!("revision {revision} is opened by `initialize`, and has no such metadata")
            }
            None => format!("revision `{requested}` is not served here; there is {}", supported.join(", ")),
        };
        ProtocolError::new(Condition::UnsupportedRevision, message)
            .with_data("supported", supported)
            .with_data("requested", &*requested)
    }

    /// A request of no revision: neither does its metadata name one, nor was one agreed upon before.
    fn unopened(&self, envelope: &Envelope<'_>) -> ProtocolError {
        let error = ProtocolError::new(
            Condition::InvalidMeta,
            "`initialize` was not sent, and `_meta` does not name a revision",
        );
        match self.catalog.revisions.iter().any(|revision| revision.is_modern()) {
            true => error.with_faults(envelope.params.meta_faults()),
            false => error,
        }
    }
}

fn bad_meta(faults: Vec<Fault>) -> Result<(), ProtocolError> {
    if faults.is_empty() {
        return Ok(());
    }
    Err(ProtocolError::new(Condition::InvalidMeta, "invalid `_meta`").with_faults(faults))
}
