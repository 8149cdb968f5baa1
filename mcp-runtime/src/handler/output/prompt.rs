//! What a prompt may return.

use super::{Output, Return};
use crate::{
    handler::{HandlerError, OperationError},
    protocol::{PromptMessage, PromptResult},
};

/// What a prompt's handler may return: text (one message of the user), messages, a whole [`PromptResult`], or a
/// `Result` of one of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a prompt",
    label = "not a prompt output",
    note = "return text (`String`), `PromptMessage`, `Vec<PromptMessage>`, `PromptResult`, or `Result<_, PromptError>` of one of them"
)]
pub trait PromptOutput: Send + 'static {
    /// The messages that the client gets.
    ///
    /// # Errors
    /// The handler's failure.
    fn into_prompt(self) -> Result<PromptResult, OperationError>;
}

impl PromptOutput for String {
    fn into_prompt(self) -> Result<PromptResult, OperationError> {
        PromptMessage::user(self).into_prompt()
    }
}

impl PromptOutput for &'static str {
    fn into_prompt(self) -> Result<PromptResult, OperationError> {
        PromptMessage::user(self).into_prompt()
    }
}

impl PromptOutput for PromptMessage {
    fn into_prompt(self) -> Result<PromptResult, OperationError> {
        Ok(PromptResult::new([self]))
    }
}

impl PromptOutput for Vec<PromptMessage> {
    fn into_prompt(self) -> Result<PromptResult, OperationError> {
        Ok(PromptResult::new(self))
    }
}

impl PromptOutput for PromptResult {
    fn into_prompt(self) -> Result<PromptResult, OperationError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: PromptOutput, E: Into<OperationError> + Send + 'static> PromptOutput for Result<T, E> {
    fn into_prompt(self) -> Result<PromptResult, OperationError> {
        self.map_err(Into::into)?.into_prompt()
    }
}

/// The return type of a prompt.
#[doc(hidden)]
#[must_use]
pub const fn prompt_return<R: PromptOutput>() -> Return<R> {
    Return {
        convert: |output, _| output.into_prompt().map(Output::Prompt).map_err(HandlerError::Operation),
        schema: |_| None,
    }
}
