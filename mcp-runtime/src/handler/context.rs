//! The metadata of a request, for handlers.

use std::{fmt, sync::Arc};

use http::HeaderMap;
use tokio::time::Instant;

use super::{Caller, Invocation, Target};
use crate::protocol::{ClientCapabilities, ClientInfo, MetaMap, RequestId, Revision, TraceContext};

/// Which endpoint serves a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointInfo {
    /// The path of the endpoint, such as `/catalog/mcp`.
    pub path: Arc<str>,
    /// The name it gives itself.
    pub name: Arc<str>,
    /// Its version.
    pub version: Arc<str>,
}

/// What is known of the request: who calls, in which revision, with which headers and metadata.
///
/// What the client says of itself (`client_info`) is not verified; [`caller`](Self::caller) is what admission found.
#[derive(Clone)]
pub struct RequestContext(Invocation);

impl RequestContext {
    pub(super) fn new(invocation: Invocation) -> Self {
        Self(invocation)
    }

    /// The id of the JSON-RPC request.
    #[must_use]
    pub fn request_id(&self) -> &RequestId {
        &self.0.parts().request_id
    }

    /// The protocol revision that the request speaks.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.0.parts().revision
    }

    /// The name of the tool or prompt that is addressed, or the URI of the resource as requested.
    #[must_use]
    pub fn target(&self) -> &str {
        match self.0.target() {
            Target::Operation(name) => name,
            Target::Resource { uri, .. } => uri,
        }
    }

    /// The endpoint that was called.
    #[must_use]
    pub fn endpoint(&self) -> &EndpointInfo {
        &self.0.parts().endpoint
    }

    /// Who calls, by admission.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.0.parts().caller
    }

    /// What the client calls itself, if it says so: with this request, or where the revision has it say so once, when
    /// the byte stream was opened. Over HTTP, older revisions leave nothing to know.
    #[must_use]
    pub fn client_info(&self) -> Option<&ClientInfo> {
        self.0.client_info()
    }

    /// What the client can do, as it declares where it says what it is: see [`client_info`](Self::client_info).
    #[must_use]
    pub fn client_capabilities(&self) -> &ClientCapabilities {
        self.0.client_capabilities()
    }

    /// The headers of the HTTP request; empty on other transports.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.0.parts().headers
    }

    /// The W3C trace context in the request's `_meta`.
    #[must_use]
    pub fn trace_context(&self) -> TraceContext<'_> {
        self.meta().trace_context()
    }

    /// All of the request's `_meta`.
    #[must_use]
    pub fn meta(&self) -> &MetaMap {
        self.0.meta()
    }

    /// When the framework gives the request up, if it ever does.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.0.parts().deadline
    }
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext")
            .field("request_id", self.request_id())
            .field("revision", &self.revision())
            .field("endpoint", &self.endpoint().path)
            .finish_non_exhaustive()
    }
}
