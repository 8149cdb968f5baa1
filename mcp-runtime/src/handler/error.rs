//! How a handler fails, and what of it reaches the client.

use std::{borrow::Cow, error::Error as StdError, fmt};

use serde_json::Value;

use crate::protocol::ToolResult;

type BoxError = Box<dyn StdError + Send + Sync>;

/// The failure of a tool: the client sees a result with `isError: true`, which a model can read and react to.
///
/// Made from any error with `?`, or from a string; the client gets its top-level `Display`, never its sources.
/// What it must not see goes through [`ToolError::internal`].
///
/// This type is deliberately no `std::error::Error`: that is what lets `?` take every error.
pub struct ToolError(Repr);

enum Repr {
    Failed(BoxError),
    Internal(BoxError),
    Result(Box<ToolResult>),
}

impl ToolError {
    /// A failure that the client is told in these words.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self(Repr::Failed(message.into().into()))
    }

    /// A failure that the client must not see: it is told "internal error", and `error` goes to the server's log.
    pub fn internal(error: impl Into<BoxError>) -> Self {
        Self(Repr::Internal(error.into()))
    }

    /// A failure with content of its own.
    #[must_use]
    pub fn result(result: ToolResult) -> Self {
        Self(Repr::Result(Box::new(result.into_error())))
    }

    /// The result that the client gets.
    pub(crate) fn into_result(self, handler: &str) -> ToolResult {
        match self.0 {
            Repr::Failed(error) => ToolResult::error(error.to_string()),
            Repr::Internal(error) => {
                tracing::error!(handler, error = %chain(&*error), "a tool failed");
                ToolResult::error("internal error")
            }
            Repr::Result(result) => *result,
        }
    }
}

impl<E: Into<BoxError>> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self(Repr::Failed(error.into()))
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Failed(error) => f.debug_tuple("ToolError").field(error).finish(),
            Repr::Internal(error) => f.debug_tuple("ToolError::internal").field(error).finish(),
            Repr::Result(result) => f.debug_tuple("ToolError::result").field(result).finish(),
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Failed(error) | Repr::Internal(error) => error.fmt(f),
            Repr::Result(_) => f.write_str("the tool failed"),
        }
    }
}

/// The failure of a resource, prompt, completion or resource list: a JSON-RPC error.
///
/// Made from any error with `?`, like [`ToolError`]; the client gets code -32603 and its top-level `Display`.
pub struct OperationError(pub(crate) OperationFailure);

#[derive(Debug)]
pub(crate) enum OperationFailure {
    /// What was asked for does not exist.
    NotFound,
    /// The caller's values don't fit.
    Invalid(String),
    /// The application's own code.
    Application {
        code: i32,
        message: String,
        data: Option<Value>,
    },
    Failed(BoxError),
    Internal(BoxError),
}

/// The failure of a resource's handler.
pub type ResourceError = OperationError;
/// The failure of a prompt's handler.
pub type PromptError = OperationError;
/// The failure of a completion's handler.
pub type CompletionError = OperationError;

impl OperationError {
    /// A failure that the client is told in these words, with code -32603.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self(OperationFailure::Failed(message.into().into()))
    }

    /// What was asked for does not exist: code -32602, the same answer as for an address that nobody serves.
    #[must_use]
    pub fn not_found() -> Self {
        Self(OperationFailure::NotFound)
    }

    /// The values that were sent don't fit: code -32602 and these words.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self(OperationFailure::Invalid(message.into()))
    }

    /// The application's own error code. JSON-RPC reserves -32768 to -32000 (specification: `basic/index`, error
    /// codes); a code in that range is sent as -32603.
    pub fn application(code: i32, message: impl Into<String>) -> Self {
        let code = if (-32768..=-32000).contains(&code) { -32603 } else { code };
        Self(OperationFailure::Application { code, message: message.into(), data: None })
    }

    /// Adds `error.data` to an [`application`](Self::application) error; others stay as they are.
    #[must_use]
    pub fn with_data(mut self, value: Value) -> Self {
        if let OperationFailure::Application { data, .. } = &mut self.0 {
            *data = Some(value);
        }
        self
    }

    /// A failure that the client must not see: it is told "internal error", and `error` goes to the server's log.
    pub fn internal(error: impl Into<BoxError>) -> Self {
        Self(OperationFailure::Internal(error.into()))
    }
}

impl<E: Into<BoxError>> From<E> for OperationError {
    fn from(error: E) -> Self {
        Self(OperationFailure::Failed(error.into()))
    }
}

impl fmt::Debug for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            OperationFailure::NotFound => f.write_str("not found"),
            OperationFailure::Invalid(message) | OperationFailure::Application { message, .. } => {
                f.write_str(message)
            }
            OperationFailure::Failed(error) | OperationFailure::Internal(error) => error.fmt(f),
        }
    }
}

/// Why a value could not be injected; the request ends before its handler runs.
#[derive(Debug)]
pub struct Rejection(OperationError);

impl Rejection {
    /// The caller's request does not allow it: a JSON-RPC error -32602 with these words.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self(OperationError::invalid(message))
    }

    /// The application's own code, as [`OperationError::application`].
    pub fn application(code: i32, message: impl Into<String>) -> Self {
        Self(OperationError::application(code, message))
    }

    /// The server can't provide it: -32603 "internal error"; the reason goes to the server's log.
    pub fn internal(error: impl Into<BoxError>) -> Self {
        Self(OperationError::internal(error))
    }
}

impl From<std::convert::Infallible> for Rejection {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a handler's future ends with when it has no output.
#[doc(hidden)]
#[derive(Debug)]
pub enum HandlerError {
    /// A tool failed.
    Tool(ToolError),
    /// Another operation failed, or a parameter was rejected.
    Operation(OperationError),
}

impl HandlerError {
    pub(super) fn internal(error: impl Into<BoxError>) -> Self {
        Self::Operation(OperationError::internal(error))
    }
}

impl From<Rejection> for HandlerError {
    fn from(rejection: Rejection) -> Self {
        Self::Operation(rejection.0)
    }
}

/// An error with its sources, for the log.
pub(crate) fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(std::io::Error);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("could not read the stock")
        }
    }

    impl StdError for Outer {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            Some(&self.0)
        }
    }

    fn text(error: ToolError) -> String {
        serde_json::to_string(error.into_result("test").content()).unwrap()
    }

    #[test]
    fn any_error_converts_and_shows_its_top_level_only() {
        fn fails() -> Result<(), ToolError> {
            Err(Outer(std::io::Error::other("/etc/secret")))?;
            Ok(())
        }
        let shown = text(fails().unwrap_err());
        assert!(shown.contains("could not read the stock"), "{shown}");
        assert!(!shown.contains("secret"), "{shown}");
        assert!(text("plain words".into()).contains("plain words"));
        assert!(text(ToolError::from(BoxError::from("boxed"))).contains("boxed"));
    }

    #[test]
    fn internal_errors_are_hidden() {
        let shown = text(ToolError::internal(Outer(std::io::Error::other("x"))));
        assert!(shown.contains("internal error") && !shown.contains("stock"), "{shown}");
    }

    #[test]
    fn reserved_codes_are_not_the_applications() {
        let code = |error: OperationError| match error.0 {
            OperationFailure::Application { code, .. } => code,
            other => panic!("{other:?}"),
        };
        assert_eq!(code(OperationError::application(-32020, "x")), -32603);
        assert_eq!(code(OperationError::application(17, "x")), 17);
    }

    #[test]
    fn sources_are_chained_for_the_log() {
        assert_eq!(chain(&Outer(std::io::Error::other("disk"))), "could not read the stock: disk");
    }
}
