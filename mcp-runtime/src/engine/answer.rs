//! How a handler's end becomes the answer to its request.

use std::sync::Arc;

use serde_json::Value;

use super::panic::Panic;
use crate::{
    handler::{HandlerError, OperationError, OperationFailure, Output, ToolError, chain},
    protocol::{
        CacheHint, Condition, ProtocolError, RequestId, ToolResult, Wire, excerpt, write_response,
        write_string,
    },
    registry::{catalog::ToolEntry, lists::write_list},
};

/// An answer on its way: the message, and what HTTP adds to it.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The JSON-RPC message.
    pub message: Vec<u8>,
    /// What the caller should wait before trying again, in seconds.
    pub retry_after: Option<u64>,
    /// A `WWW-Authenticate` challenge.
    pub challenge: Option<http::HeaderValue>,
}

impl Answer {
    pub(crate) fn ok(message: Vec<u8>) -> Self {
        Self { status: 200, message, retry_after: None, challenge: None }
    }

    pub(crate) fn error(error: &ProtocolError, id: Option<&RequestId>) -> Self {
        let mut message = Vec::with_capacity(256);
        error.write_response(id, &mut message);
        Self {
            status: error.http_status(),
            message,
            // Whole seconds on the wire; never "at once".
            retry_after: error.retry_delay().map(|delay| delay.as_secs_f64().ceil().max(1.0) as u64),
            challenge: None,
        }
    }
}

/// What kind of result a handler's output becomes.
pub(crate) enum Kind {
    Tool(Arc<ToolEntry>),
    Resource(Box<Read>),
    Prompt,
    Completion,
    Page { cache: CacheHint },
}

/// What is read: apart, so that other kinds are small.
pub(crate) struct Read {
    pub uri: Box<str>,
    pub cache: CacheHint,
    pub mime_type: Option<Arc<str>>,
}

impl Kind {
    /// The method that asks for it.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tools/call",
            Self::Resource(_) => "resources/read",
            Self::Prompt => "prompts/get",
            Self::Completion => "completion/complete",
            Self::Page { .. } => "resources/list",
        }
    }
}

/// All that is needed to answer once the handler has ended.
pub(crate) struct Answerer {
    pub id: RequestId,
    pub wire: Arc<Wire>,
    pub kind: Kind,
    /// The handler and its place in the sources, for the log.
    pub handler: Arc<str>,
}

/// How a handler ended.
pub(crate) type End = Result<Result<Output, HandlerError>, Panic>;

impl Answerer {
    /// The answer to a handler that has ended. If its client was `asked` for something, it is for nobody else, and for
    /// now only.
    pub(crate) fn answer(&self, end: End, asked: bool) -> Answer {
        match end {
            Ok(Ok(output)) => self.output(output, asked),
            Ok(Err(HandlerError::Tool(error))) => self.tool_error(error),
            Ok(Err(HandlerError::Operation(error))) => self.operation_error(error),
            Err(Panic(message)) => {
                tracing::error!(handler = %self.handler, panic = message, "a handler panicked");
                self.internal()
            }
        }
    }

    /// An error instead of the handler's own answer.
    pub(crate) fn refuse(&self, error: ProtocolError) -> Answer {
        Answer::error(&error.in_revision(self.wire.revision()), Some(&self.id))
    }

    pub(super) fn internal(&self) -> Answer {
        self.refuse(ProtocolError::new(Condition::Internal, "internal error"))
    }

    fn output(&self, output: Output, asked: bool) -> Answer {
        let (wire, revision) = (&*self.wire, self.wire.revision());
        let mut message = Vec::with_capacity(256);
        match (&self.kind, output) {
            (Kind::Tool(tool), Output::Tool(mut result)) => {
                if let Some(broken) = broken_promise(tool, &result) {
                    tracing::error!(handler = %self.handler, broken, "a tool broke its output schema");
                    return self.internal();
                }
                if !revision.is_modern() && !tool.legacy_structure {
                    result = result.into_unstructured();
                }
                write_response(&self.id, &mut message, |out| result.write_result(wire, out));
            }
            (Kind::Resource(read), Output::Resource(mut result)) => {
                if result.contents.is_empty() {
                    tracing::error!(handler = %self.handler, "a resource returned no contents");
                    return self.internal();
                }
                match asked {
                    true => result.cache = Some(CacheHint::default()),
                    false => drop(result.cache.get_or_insert(read.cache)),
                }
                write_response(&self.id, &mut message, |out| result.write_result(wire, out));
            }
            (Kind::Prompt, Output::Prompt(result)) => {
                write_response(&self.id, &mut message, |out| result.write_result(wire, out));
            }
            (Kind::Completion, Output::Completion(result)) => {
                write_response(&self.id, &mut message, |out| result.write_result(wire, out));
            }
            (Kind::Page { cache }, Output::Page(mut page)) => {
                if !revision.has_icons() {
                    page.resources.iter_mut().for_each(|resource| resource.icons.clear());
                }
                let mut items = Vec::new();
                for (at, resource) in page.resources.iter().enumerate() {
                    if at > 0 {
                        items.push(b',');
                    }
                    if let Err(error) = serde_json::to_writer(&mut items, resource) {
                        return self.operation_error(OperationError::internal(error));
                    }
                }
                write_response(&self.id, &mut message, |out| {
                    write_list(out, wire, "resources", page.next_cursor.as_deref(), *cache, |out| {
                        out.extend_from_slice(&items);
                    });
                });
            }
            _ => {
                tracing::error!(handler = %self.handler, "a handler returned the output of another kind of operation");
                return self.internal();
            }
        }
        Answer::ok(message)
    }

    fn tool_error(&self, error: ToolError) -> Answer {
        self.tool_result(&error.into_result(&self.handler))
    }

    /// A tool's result that did not come from its handler.
    pub(crate) fn tool_result(&self, result: &ToolResult) -> Answer {
        let mut message = Vec::with_capacity(256);
        write_response(&self.id, &mut message, |out| result.write_result(&self.wire, out));
        Answer::ok(message)
    }

    fn operation_error(&self, error: OperationError) -> Answer {
        self.refuse(match error.0 {
            OperationFailure::NotFound => not_found(&self.kind),
            OperationFailure::Invalid(message) => ProtocolError::new(Condition::NotFound, message),
            OperationFailure::Application { code, message, data } => {
                let error = ProtocolError::new(Condition::Application(code), message);
                match data {
                    Some(Value::Object(members)) => {
                        members.into_iter().fold(error, |error, (key, value)| error.with_data(key, value))
                    }
                    Some(value) => error.with_data("value", value),
                    None => error,
                }
            }
            OperationFailure::Failed(error) => ProtocolError::new(Condition::InternalOk, error.to_string()),
            OperationFailure::Internal(error) => {
                tracing::error!(handler = %self.handler, error = %chain(&*error), "a handler failed");
                ProtocolError::new(Condition::InternalOk, "internal error")
            }
        })
    }
}

fn not_found(kind: &Kind) -> ProtocolError {
    match kind {
        Kind::Resource(read) => unknown_resource(&read.uri),
        Kind::Tool(_) | Kind::Prompt | Kind::Completion | Kind::Page { .. } => {
            ProtocolError::new(Condition::NotFound, "not found")
        }
    }
}

/// The same answer for a resource that nobody serves and one that its handler does not know.
pub(crate) fn unknown_resource(uri: &str) -> ProtocolError {
    ProtocolError::new(Condition::ResourceNotFound, "resource not found").with_data("uri", &*excerpt(uri))
}

/// What of its own schema a result violates.
fn broken_promise(tool: &ToolEntry, result: &ToolResult) -> Option<String> {
    let validator = tool.output.as_ref()?;
    let structured = result.structured_content()?;
    let value = match serde_json::from_str(structured.get()) {
        Ok(value) => value,
        Err(error) => return Some(error.to_string()),
    };
    let faults = validator.faults(&value);
    faults.first().map(|fault| format!("{}: {}", fault.at, fault.message))
}

/// The text of a tool's refusal to be called with such arguments.
pub(crate) fn bad_arguments(tool: &str, faults: &[crate::protocol::Fault]) -> ToolResult {
    let mut text = Vec::new();
    text.extend_from_slice(b"The arguments of ");
    write_string(&mut text, tool);
    text.extend_from_slice(b" don't fit:");
    for fault in faults {
        text.extend_from_slice(format!("\n- {}: {}", fault.at, fault.message).as_bytes());
    }
    ToolResult::error(String::from_utf8_lossy(&text))
}
