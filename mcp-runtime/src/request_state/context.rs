//! What a state belongs to.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::canonical::{Sha, stable_digest};
use crate::{
    handler::{Caller, EndpointInfo},
    protocol::{Params, Revision},
};

/// What the binding's digest begins with; another rule for what it covers needs another label.
const LABEL: &[u8] = b"mcp-runtime/request-state/binding/1";

/// The request that a state belongs to: to no other one may it be presented.
///
/// A retry of the request has an equal [`binding`](Self::binding), however its client's library writes it.
#[derive(Clone, Debug)]
pub struct StateContext {
    endpoint: Arc<EndpointInfo>,
    revision: Revision,
    method: &'static str,
    caller: Caller,
    binding: Sha,
}

impl StateContext {
    /// Reads all of `params`, so it is for requests only that may have a state.
    pub(crate) fn new(
        endpoint: Arc<EndpointInfo>,
        revision: Revision,
        method: &'static str,
        caller: Caller,
        params: &Params<'_>,
    ) -> Self {
        let binding = binding(&endpoint.path, revision, method, &caller, params);
        Self { endpoint, revision, method, caller, binding }
    }

    /// The endpoint that is called.
    #[must_use]
    pub fn endpoint(&self) -> &EndpointInfo {
        &self.endpoint
    }

    /// The protocol revision of the request.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The JSON-RPC method: `tools/call`, `prompts/get` or `resources/read`.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// Who calls, by admission.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// A SHA-256 digest of the endpoint's path, the revision, the method, the caller's identity and all of `params`
    /// but `_meta`, `inputResponses` and `requestState`.
    ///
    /// Keys count in any order, strings however they are escaped, numbers by their value; absent `arguments` are the
    /// same as empty ones.
    #[must_use]
    pub fn binding(&self) -> &[u8; 32] {
        &self.binding
    }
}

fn binding(path: &str, revision: Revision, method: &str, caller: &Caller, params: &Params<'_>) -> Sha {
    let mut digest = Sha256::new_with_prefix(LABEL);
    // Each with its length, so that no part can pass for the end of the one before it.
    let mut part = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    part(path.as_bytes());
    part(revision.as_str().as_bytes());
    part(method.as_bytes());
    match caller.id() {
        None => part(b"anonymous"),
        Some(id) => {
            part(b"identified");
            part(id.as_bytes());
        }
    }
    part(&stable_digest(params.text().get()));
    digest.finalize().into()
}
