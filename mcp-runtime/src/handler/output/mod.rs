//! What a handler may return, by its kind of operation.

mod completion;
mod page;
mod prompt;
mod resource;
mod tool;

use schemars::{JsonSchema, Schema, SchemaGenerator};

pub use self::{
    completion::{CompletionOutput, completion_return},
    page::{PageOutput, ResourceEntry, ResourcePage, page_return},
    prompt::{PromptOutput, prompt_return},
    resource::{Blob, ResourceOutput, resource_return},
    tool::{ToolOutput, tool_return},
};
use super::{HandlerError, Invocation};
use crate::protocol::{Completion, PromptResult, ReadResult, ToolResult};

/// What a handler's future ends with.
#[doc(hidden)]
#[derive(Debug)]
pub enum Output {
    /// Of a tool.
    Tool(ToolResult),
    /// Of a resource.
    Resource(ReadResult),
    /// Of a prompt.
    Prompt(PromptResult),
    /// Of a completion.
    Completion(Completion),
    /// Of a resource list.
    Page(ResourcePage),
}

/// How a return type becomes an [`Output`], and the schema it promises.
#[doc(hidden)]
pub struct Return<R> {
    convert: fn(R, &Invocation) -> Result<Output, HandlerError>,
    /// The schema of the structured content, if there is any.
    pub schema: fn(&mut SchemaGenerator) -> Option<Schema>,
}

impl<R> Return<R> {
    /// Converts what the handler returned.
    ///
    /// # Errors
    /// The handler's own failure.
    pub fn finish(self, output: R, invocation: &Invocation) -> Result<Output, HandlerError> {
        (self.convert)(output, invocation)
    }
}

/// A value as JSON: structured content of a tool with a derived output schema, or a resource of type
/// `application/json`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// Text, as a tool's result or a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(pub String);

impl Text {
    /// This text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Option<Schema> {
    Some(generator.subschema_for::<T>())
}
