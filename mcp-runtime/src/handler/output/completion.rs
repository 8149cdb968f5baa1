//! What a completion may return.

use super::{Output, Return};
use crate::{
    handler::{HandlerError, OperationError},
    protocol::Completion,
};

/// What a completion's handler may return: the values, best first, a whole [`Completion`], or a `Result` of one of
/// them. At most 100 values are sent; of a longer list the client learns the total and that there are more.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a completion",
    label = "not a completion output",
    note = "return `Vec<String>`, `Completion`, or `Result<_, CompletionError>` of one of them"
)]
pub trait CompletionOutput: Send + 'static {
    /// The values that the client gets.
    ///
    /// # Errors
    /// The handler's failure.
    fn into_completion(self) -> Result<Completion, OperationError>;
}

impl CompletionOutput for Completion {
    fn into_completion(self) -> Result<Completion, OperationError> {
        Ok(self)
    }
}

impl CompletionOutput for Vec<String> {
    fn into_completion(self) -> Result<Completion, OperationError> {
        Ok(self.into())
    }
}

impl CompletionOutput for Vec<&'static str> {
    fn into_completion(self) -> Result<Completion, OperationError> {
        Ok(self.into_iter().map(str::to_owned).collect::<Vec<_>>().into())
    }
}

#[diagnostic::do_not_recommend]
impl<T: CompletionOutput, E: Into<OperationError> + Send + 'static> CompletionOutput for Result<T, E> {
    fn into_completion(self) -> Result<Completion, OperationError> {
        self.map_err(Into::into)?.into_completion()
    }
}

/// The return type of a completion.
#[doc(hidden)]
#[must_use]
pub const fn completion_return<R: CompletionOutput>() -> Return<R> {
    Return {
        convert: |output, _| {
            output.into_completion().map(Output::Completion).map_err(HandlerError::Operation)
        },
        schema: |_| None,
    }
}
