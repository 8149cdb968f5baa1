//! The wire as data: messages, ids, metadata, revisions, errors, content and headers.
//!
//! Nothing here does I/O or waits. [`Envelope::parse`] borrows a request from its body in one scan; the `write_…`
//! functions append answers to a buffer.

mod client;
mod content;
mod cursor;
mod envelope;
mod error;
mod frame;
mod headers;
mod id;
mod initialize;
mod input;
mod json;
mod listen;
mod log;
mod member;
mod meta;
mod normal;
mod overlap;
mod params;
mod plain;
mod raw;
mod reader;
mod resource;
mod result;
mod revision;
#[cfg(test)]
mod samples;
mod sampling;
mod split;
mod template;
mod tool_result;
mod uri;
mod wire;

pub use client::{Capabilities, ClientCapabilities, ClientInfo};
pub use content::{Annotations, AudioContent, Content, ImageContent, PromptMessage, Role, TextContent};
pub use cursor::{Cursor, InvalidCursor, ListKind};
pub use envelope::{Envelope, EnvelopeError};
pub(crate) use error::excerpt;
pub use error::{Condition, Fault, ProtocolError};
pub use frame::{write_log, write_progress};
pub use headers::{
    HeaderFault, MCP_METHOD, MCP_NAME, MCP_PARAM_PREFIX, MCP_PROTOCOL_VERSION, decode_value, encode_value,
    is_token, is_tool_name, matches_json, plain_value, says_plainly,
};
pub use id::{NotAnId, ProgressToken, RequestId};
pub use initialize::{InitializeParams, Introduction};
pub use input::{ElicitAction, ElicitResult, InputRequest, Root, RootsResult, write_input_required};
pub use json::{write_f64, write_i64, write_string, write_u64};
pub use listen::{
    ChangeKind, ListenFilter, write_acknowledged, write_cancelled, write_list_changed, write_listen_result,
    write_resource_updated,
};
pub use log::LogLevel;
pub use member::{JsonType, Member};
pub use meta::{Meta, MetaMap, TraceContext, keys};
pub use normal::normal_uri;
pub use params::{Arguments, CompletionArgument, CompletionContext, Params, Reference, ReferenceTarget};
pub use raw::Raw;
pub use resource::{EmbeddedResource, Icon, IconTheme, ResourceBody, ResourceContents, ResourceLink};
pub use result::{CacheHint, CacheScope, Completion, PromptResult, ReadResult, write_response};
pub use revision::{Revision, UnknownRevision};
pub use sampling::{
    ModelHint, ModelPreferences, Sampled, Sampling, SamplingContent, SamplingMessage, SamplingTool,
    ToolAnswer, ToolChoice, ToolUse,
};
pub use split::MAX_DEPTH;
pub use template::{TemplateError, UriTemplate};
pub use tool_result::ToolResult;
pub use uri::is_absolute_uri;
pub use wire::Wire;
