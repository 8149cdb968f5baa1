//! Which revision a request speaks, and whether it is served.

use super::{Engine, headers, request::Carried};
use crate::protocol::{Condition, Envelope, ProtocolError, Revision, excerpt};

impl Engine {
    /// A request of the era before per-request metadata, which is not served, learns what is.
    pub(super) fn check_era(&self, envelope: &Envelope<'_>, carried: &Carried) -> Result<(), ProtocolError> {
        if envelope.params.meta.value().is_some_and(|meta| !meta.protocol_version.is_absent()) {
            return Ok(());
        }
        let header = headers::plain(&carried.headers, &headers::PROTOCOL_VERSION).ok().flatten();
        let legacy =
            header.filter(|name| Revision::parse(name).is_some_and(|revision| !revision.is_modern()));
        match legacy {
            Some(name) => Err(self.unsupported(name)),
            None if envelope.method == "initialize"
                && carried.headers.get(&headers::PROTOCOL_VERSION).is_none() =>
            {
                let proposed = envelope.params.other("protocolVersion");
                let proposed = proposed.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
                Err(self.unsupported(proposed.as_deref().unwrap_or("none")))
            }
            None => Ok(()),
        }
    }

    /// The revision that a request speaks, by its metadata; by its header where that is missing.
    pub(super) fn revision(
        &self,
        envelope: &Envelope<'_>,
        carried: &Carried,
    ) -> Result<Revision, ProtocolError> {
        let named = envelope.params.meta.value().and_then(|meta| meta.protocol_version.value());
        let header = || headers::plain(&carried.headers, &headers::PROTOCOL_VERSION).ok().flatten();
        let Some(name) = named.map(|name| &**name).or_else(header) else {
            // What is missing is a fault of the metadata.
            return Ok(Revision::LATEST);
        };
        let served = Revision::parse(name).filter(|revision| self.catalog.revisions.contains(revision));
        served.ok_or_else(|| self.unsupported(name))
    }

    fn unsupported(&self, requested: &str) -> ProtocolError {
        let (requested, supported) = (excerpt(requested), self.catalog.revision_names());
        let message = format!("revision `{requested}` is not served here; there is {}", supported.join(", "));
        ProtocolError::new(Condition::UnsupportedRevision, message)
            .with_data("supported", supported)
            .with_data("requested", &*requested)
    }
}
