//! A client that can be asked while its request is answered, as the revisions before 2026-07-28 have it.

use std::{pin::Pin, sync::Arc};

use serde_json::value::RawValue;

use crate::protocol::{InputRequest, ProtocolError};

/// The answer to a request of the server: its result, or the error that the client answers with.
pub(crate) type ClientAnswer<'c> =
    Pin<Box<dyn Future<Output = Result<Box<RawValue>, ProtocolError>> + Send + 'c>>;

/// Sends requests to the client of a request, on that request's own stream.
pub(crate) trait ClientChannel: Send + Sync {
    /// Sends one, and waits for its answer. Dropping the future forgets it. `key` is what the handler calls it.
    fn request<'c>(&'c self, key: &'c str, request: &'c InputRequest) -> ClientAnswer<'c>;
}

/// A client that can be asked. Who hands a request over puts it into the request's extensions.
#[derive(Clone)]
pub(crate) struct Reachable(pub Arc<dyn ClientChannel>);
