//! Answers, read for assertions.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::answers::Question;
use crate::protocol::{Content, LogLevel, PromptMessage, ResourceBody, ResourceContents};

/// A progress notification.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ProgressUpdate {
    /// How much is done.
    pub progress: f64,
    /// Of how much, if that is known.
    pub total: Option<f64>,
    /// A line for people.
    pub message: Option<String>,
}

/// A log notification.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct LogMessage {
    /// How severe it is.
    pub level: LogLevel,
    /// Who says it.
    pub logger: Option<String>,
    /// What it says: any JSON.
    pub data: Value,
}

/// A type that a result can be read as.
pub trait Answered: Sized + Send + 'static {
    #[doc(hidden)]
    fn read(response: Response) -> serde_json::Result<Self>;
}

/// What was said before the answer, and the answer's result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    pub(super) progress: Vec<ProgressUpdate>,
    pub(super) logs: Vec<LogMessage>,
    pub(super) questions: Vec<Question>,
    pub(super) result: Value,
}

impl Response {
    /// The progress that was reported, if it was asked for.
    #[must_use]
    pub fn progress(&self) -> &[ProgressUpdate] {
        &self.progress
    }

    /// The log messages, if they were asked for.
    #[must_use]
    pub fn logs(&self) -> &[LogMessage] {
        &self.logs
    }

    /// What the server asked, round by round.
    #[must_use]
    pub fn asked(&self) -> &[Question] {
        &self.questions
    }

    /// All of the result.
    #[must_use]
    pub fn result(&self) -> &Value {
        &self.result
    }

    /// All of the result.
    #[must_use]
    pub fn into_result(self) -> Value {
        self.result
    }
}

impl Answered for Response {
    fn read(response: Response) -> serde_json::Result<Self> {
        Ok(response)
    }
}

/// A response whose result has been read.
macro_rules! responses {
    ($($(#[$doc:meta])* $name:ident($result:ident);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            response: Response,
            result: $result,
        }

        impl $name {
            /// The progress that was reported, if it was asked for.
            #[must_use]
            pub fn progress(&self) -> &[ProgressUpdate] {
                self.response.progress()
            }

            /// The log messages, if they were asked for.
            #[must_use]
            pub fn logs(&self) -> &[LogMessage] {
                self.response.logs()
            }

            /// What the server asked, round by round.
            #[must_use]
            pub fn asked(&self) -> &[Question] {
                self.response.asked()
            }

            /// All of the result.
            #[must_use]
            pub fn result(&self) -> &Value {
                self.response.result()
            }
        }

        impl Answered for $name {
            fn read(response: Response) -> serde_json::Result<Self> {
                let result = $result::deserialize(response.result())?;
                Ok(Self { response, result })
            }
        }
    )*};
}
responses! {
    /// What a tool answered.
    ToolResponse(ToolResult);
    /// What a resource has.
    ReadResponse(ReadResult);
    /// What a prompt says.
    PromptResponse(PromptResult);
    /// What a completion suggests.
    CompletionResponse(CompletionResult);
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult {
    content: Vec<Content>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Clone, Debug, Deserialize)]
struct ReadResult {
    contents: Vec<ResourceContents>,
}

#[derive(Clone, Debug, Deserialize)]
struct PromptResult {
    description: Option<String>,
    messages: Vec<PromptMessage>,
}

#[derive(Clone, Debug, Deserialize)]
struct CompletionResult {
    completion: Completion,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Completion {
    values: Vec<String>,
    total: Option<u64>,
    #[serde(default)]
    has_more: bool,
}

impl ToolResponse {
    /// The blocks of content.
    #[must_use]
    pub fn content(&self) -> &[Content] {
        &self.result.content
    }

    /// The text of all text blocks, a line break between them.
    #[must_use]
    pub fn text(&self) -> String {
        lines(self.content().iter().filter_map(text))
    }

    /// Whether the tool failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.result.is_error
    }

    /// The structured content.
    ///
    /// # Panics
    /// If there is none, or it is no `T`.
    #[track_caller]
    #[must_use]
    pub fn structured<T: DeserializeOwned>(&self) -> T {
        let Some(content) = self.result().get("structuredContent") else {
            panic!("the result has no structured content: {}", self.result())
        };
        match T::deserialize(content) {
            Ok(content) => content,
            Err(error) => {
                panic!("the structured content is no `{}`: {error}: {content}", std::any::type_name::<T>())
            }
        }
    }
}

impl ReadResponse {
    /// The contents.
    #[must_use]
    pub fn contents(&self) -> &[ResourceContents] {
        &self.result.contents
    }

    /// The text of all contents that are text, a line break between them.
    #[must_use]
    pub fn text(&self) -> String {
        lines(self.contents().iter().filter_map(|contents| match &contents.body {
            ResourceBody::Text(text) => Some(text.as_str()),
            ResourceBody::Blob(_) => None,
        }))
    }
}

impl PromptResponse {
    /// What the prompt is for.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.result.description.as_deref()
    }

    /// The messages.
    #[must_use]
    pub fn messages(&self) -> &[PromptMessage] {
        &self.result.messages
    }

    /// The text of all messages that are text, a line break between them.
    #[must_use]
    pub fn text(&self) -> String {
        lines(self.messages().iter().filter_map(|message| text(&message.content)))
    }
}

impl CompletionResponse {
    /// The suggested values.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.result.completion.values
    }

    /// How many there are in all, if that is known.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.result.completion.total
    }

    /// Whether there are more than these.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.result.completion.has_more
    }
}

fn text(content: &Content) -> Option<&str> {
    match content {
        Content::Text(content) => Some(&content.text),
        _ => None,
    }
}

fn lines<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    texts.collect::<Vec<_>>().join("\n")
}
