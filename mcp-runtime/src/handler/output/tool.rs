//! What a tool may return.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use super::{Json, Output, Return, Text, schema_of};
use crate::{
    handler::{HandlerError, ToolError},
    protocol::{Content, ToolResult},
};

/// What a tool's handler may return: text, [`Json`], content blocks, a whole [`ToolResult`], or a `Result` of one of
/// them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "not a tool output",
    note = "return text (`String`), `Json<T>` with `T: Serialize + JsonSchema`, `Content`, `Vec<Content>`, `ToolResult`, or `Result<_, ToolError>` of one of them (all from `mcp_runtime::prelude`)",
    note = "an error becomes a `ToolError` if it implements `std::error::Error + Send + Sync`"
)]
pub trait ToolOutput: Send + 'static {
    /// The result that the client gets.
    ///
    /// # Errors
    /// The tool's failure, which the client gets as a result with `isError: true`.
    fn into_result(self) -> Result<ToolResult, ToolError>;

    /// The schema of its structured content, if it has any.
    fn output_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        let _ = generator;
        None
    }
}

/// Nothing to say: no content.
impl ToolOutput for () {
    fn into_result(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::new())
    }
}

macro_rules! texts {
    ($($type:ty),*) => {$(
        impl ToolOutput for $type {
            fn into_result(self) -> Result<ToolResult, ToolError> {
                Ok(ToolResult::text(self))
            }
        }
    )*};
}
texts!(String, &'static str, Cow<'static, str>);

impl ToolOutput for Text {
    fn into_result(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::text(self.0))
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> ToolOutput for Json<T> {
    fn into_result(self) -> Result<ToolResult, ToolError> {
        ToolResult::structured(&self.0).map_err(ToolError::internal)
    }

    fn output_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        schema_of::<T>(generator)
    }
}

impl ToolOutput for Content {
    fn into_result(self) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::new().with_content(self))
    }
}

impl ToolOutput for Vec<Content> {
    fn into_result(self) -> Result<ToolResult, ToolError> {
        Ok(self.into_iter().fold(ToolResult::new(), ToolResult::with_content))
    }
}

impl ToolOutput for ToolResult {
    fn into_result(self) -> Result<ToolResult, ToolError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: ToolOutput, E: Into<ToolError> + Send + 'static> ToolOutput for Result<T, E> {
    fn into_result(self) -> Result<ToolResult, ToolError> {
        self.map_err(Into::into)?.into_result()
    }

    fn output_schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        T::output_schema(generator)
    }
}

/// The return type of a tool.
#[doc(hidden)]
#[must_use]
pub const fn tool_return<R: ToolOutput>() -> Return<R> {
    Return {
        convert: |output, _| output.into_result().map(Output::Tool).map_err(HandlerError::Tool),
        schema: R::output_schema,
    }
}
