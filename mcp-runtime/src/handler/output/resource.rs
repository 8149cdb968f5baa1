//! What a resource may return.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;

use super::{Json, Output, Return, Text};
use crate::{
    handler::{HandlerError, Invocation, OperationError, Target},
    protocol::{ReadResult, ResourceContents},
};

/// Bytes, as a resource: sent in Base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blob(pub Bytes);

impl Blob {
    /// These bytes.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self(bytes.into())
    }
}

/// What a resource's handler may return: text, bytes ([`Blob`]), [`Json`], contents with URIs of their own, or a
/// `Result` or `Option` of one of them. `None` is a resource that does not exist.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the contents of a resource",
    label = "not a resource output",
    note = "return `Text` or `String`, `Blob`, `Json<T>` with `T: Serialize`, `ResourceContents`, `Vec<ResourceContents>`, `ReadResult`, or `Result<_, ResourceError>` or `Option<_>` of one of them",
    note = "an error becomes a `ResourceError` if it implements `std::error::Error + Send + Sync`"
)]
pub trait ResourceOutput: Send + 'static {
    /// The contents, given the URI that was requested and the MIME type that the resource declares.
    ///
    /// # Errors
    /// The handler's failure.
    fn into_read(self, uri: &str, mime_type: Option<&str>) -> Result<ReadResult, OperationError>;
}

macro_rules! texts {
    ($($type:ty => $into:expr),*) => {$(
        impl ResourceOutput for $type {
            fn into_read(self, uri: &str, mime_type: Option<&str>) -> Result<ReadResult, OperationError> {
                let contents = ResourceContents::text(uri, $into(self)).with_mime_type(mime_type.unwrap_or("text/plain"));
                Ok(ReadResult::new(contents))
            }
        }
    )*};
}
texts!(String => String::from, &'static str => String::from, Cow<'static, str> => Cow::into_owned, Text => |text: Text| text.0);

impl ResourceOutput for Blob {
    fn into_read(self, uri: &str, mime_type: Option<&str>) -> Result<ReadResult, OperationError> {
        let contents = ResourceContents::blob(uri, &self.0);
        Ok(ReadResult::new(contents.with_mime_type(mime_type.unwrap_or("application/octet-stream"))))
    }
}

impl<T: Serialize + Send + 'static> ResourceOutput for Json<T> {
    fn into_read(self, uri: &str, mime_type: Option<&str>) -> Result<ReadResult, OperationError> {
        let text = serde_json::to_string(&self.0).map_err(OperationError::internal)?;
        let contents = ResourceContents::text(uri, text);
        Ok(ReadResult::new(contents.with_mime_type(mime_type.unwrap_or("application/json"))))
    }
}

impl ResourceOutput for ResourceContents {
    fn into_read(self, _: &str, _: Option<&str>) -> Result<ReadResult, OperationError> {
        Ok(ReadResult::new(self))
    }
}

impl ResourceOutput for Vec<ResourceContents> {
    fn into_read(self, uri: &str, _: Option<&str>) -> Result<ReadResult, OperationError> {
        // An empty list would leave open whether the resource exists (specification: `server/resources`).
        if self.is_empty() {
            return Err(OperationError::internal(format!("no contents were returned for {uri}")));
        }
        Ok(self.into_iter().collect())
    }
}

impl ResourceOutput for ReadResult {
    fn into_read(self, _: &str, _: Option<&str>) -> Result<ReadResult, OperationError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: ResourceOutput, E: Into<OperationError> + Send + 'static> ResourceOutput for Result<T, E> {
    fn into_read(self, uri: &str, mime_type: Option<&str>) -> Result<ReadResult, OperationError> {
        self.map_err(Into::into)?.into_read(uri, mime_type)
    }
}

impl<T: ResourceOutput> ResourceOutput for Option<T> {
    fn into_read(self, uri: &str, mime_type: Option<&str>) -> Result<ReadResult, OperationError> {
        self.ok_or_else(OperationError::not_found)?.into_read(uri, mime_type)
    }
}

/// The return type of a resource.
#[doc(hidden)]
#[must_use]
pub const fn resource_return<R: ResourceOutput>() -> Return<R> {
    Return { convert: convert::<R>, schema: |_| None }
}

fn convert<R: ResourceOutput>(output: R, invocation: &Invocation) -> Result<Output, HandlerError> {
    let (uri, mime_type) = match invocation.target() {
        Target::Resource { uri, mime_type } => (&**uri, mime_type.as_deref()),
        Target::Operation(name) => (&**name, None),
    };
    output.into_read(uri, mime_type).map(Output::Resource).map_err(HandlerError::Operation)
}
