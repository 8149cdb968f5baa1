//! What the attributes submit: descriptions that are constants of the annotated crate.

use std::any::TypeId;

use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use super::asking::FormDescriptor;
use crate::{
    handler::{ArgumentReader, ErasedParam, HandlerFuture, Invocation},
    protocol::{Capabilities, ChangeKind, Revision},
};

pub use crate::handler::Instance;

/// Starts a handler: reads its arguments at once, and returns the future that does the rest. `None` if the arguments
/// don't fit; the reader knows why.
pub type Start = fn(Option<&Instance>, &mut ArgumentReader<'_>, &Invocation) -> Option<HandlerFuture>;

/// One submission of an annotated item.
pub enum Registration {
    /// A struct under `#[mcp_endpoint]`.
    Endpoint(&'static EndpointDescriptor),
    /// A tool, resource, resource list, prompt or completion.
    Operation(&'static OperationDescriptor),
    /// A struct under `#[derive(ElicitationForm)]`.
    Form(&'static FormDescriptor),
}

inventory::collect!(Registration);

/// A type under `#[mcp_endpoint]`; implemented by the attribute only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no endpoint",
    label = "not declared as an endpoint",
    note = "annotate the struct with `#[mcp_endpoint(path = \"/…\", name = \"…\", version = \"…\")]`"
)]
pub trait DeclaredEndpoint: Sized + Send + Sync + 'static {
    /// What the attribute says.
    #[doc(hidden)]
    const DESCRIPTOR: &'static EndpointDescriptor;
}

/// Tells endpoints apart across modules and crates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EndpointId(TypeId);

impl EndpointId {
    /// The identity of an endpoint's type.
    #[must_use]
    pub const fn of_type<T: 'static>() -> Self {
        Self(TypeId::of::<T>())
    }
}

/// The identity of a declared endpoint; a type that is none does not compile.
#[must_use]
pub const fn endpoint_id<E: DeclaredEndpoint>() -> EndpointId {
    EndpointId::of_type::<E>()
}

/// Which endpoint an operation belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointRef {
    /// A declared one.
    Type(EndpointId),
    /// The default endpoint of the operation's crate.
    CrateDefault,
}

/// Where an item was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The crate's name.
    pub crate_name: &'static str,
    /// The crate's version.
    pub crate_version: &'static str,
    /// The path of the module.
    pub module: &'static str,
    /// The source file, as the compiler names it.
    pub file: &'static str,
    /// The line of the attribute.
    pub line: u32,
    /// The column of the attribute.
    pub column: u32,
    /// The item's own name.
    pub item: &'static str,
}

/// Where the expansion stands.
#[doc(hidden)]
#[macro_export]
macro_rules! __origin {
    ($item:expr) => {
        $crate::__private::Origin {
            crate_name: ::core::env!("CARGO_PKG_NAME"),
            crate_version: ::core::env!("CARGO_PKG_VERSION"),
            module: ::core::module_path!(),
            file: ::core::file!(),
            line: ::core::line!(),
            column: ::core::column!(),
            item: $item,
        }
    };
}

/// An icon, as constants.
#[derive(Clone, Copy, Debug)]
pub struct IconDescriptor {
    /// An `https:` or `data:` URI.
    pub src: &'static str,
    /// Its MIME type.
    pub mime_type: Option<&'static str>,
    /// Its sizes, such as `48x48`, or `any`.
    pub sizes: &'static [&'static str],
    /// `light` or `dark`.
    pub theme: Option<&'static str>,
}

/// Who may keep a cached result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Anybody.
    Public,
    /// The caller alone.
    Private,
}

/// How long a result stays fresh, and for whom.
#[derive(Clone, Copy, Debug)]
pub struct CacheDescriptor {
    /// Milliseconds; 0 is "never".
    pub ttl_ms: u64,
    /// For whom.
    pub scope: Scope,
}

/// What happens to arguments that a tool's schema does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtraArguments {
    /// The call is refused, and the nearest name suggested.
    #[default]
    Refuse,
    /// They are ignored.
    Ignore,
}

/// A struct under `#[mcp_endpoint]`.
#[derive(Clone, Copy, Debug)]
pub struct EndpointDescriptor {
    /// Its identity.
    pub id: EndpointId,
    /// The path it is served at.
    pub path: &'static str,
    /// The server's name.
    pub name: &'static str,
    /// The server's version.
    pub version: &'static str,
    /// A title for people.
    pub title: Option<&'static str>,
    /// What it is.
    pub description: Option<&'static str>,
    /// A page about it.
    pub website_url: Option<&'static str>,
    /// How a model should use it.
    pub instructions: Option<&'static str>,
    /// Images that stand for it.
    pub icons: &'static [IconDescriptor],
    /// The revisions it serves; empty for all that are supported.
    pub revisions: &'static [Revision],
    /// How long its lists stay fresh.
    pub cache: Option<CacheDescriptor>,
    /// What its tools do with unknown arguments.
    pub extra_arguments: Option<ExtraArguments>,
    /// What its clients may subscribe to.
    pub changes: &'static [ChangeKind],
    /// Whether a URI may be subscribed to that nothing serves.
    pub subscribable: Option<fn(&str) -> bool>,
    /// Where it was declared.
    pub origin: Origin,
    /// Makes the instance of a unit struct.
    pub construct: Option<fn() -> Instance>,
}

/// An annotated function.
pub struct OperationDescriptor {
    /// What it is.
    pub kind: OperationKind,
    /// Its name.
    pub name: &'static str,
    /// A title for people.
    pub title: Option<&'static str>,
    /// What it does.
    pub description: Option<&'static str>,
    /// Images that stand for it.
    pub icons: &'static [IconDescriptor],
    /// Where it belongs.
    pub endpoint: EndpointRef,
    /// Where it was written.
    pub origin: Origin,
    /// Its parameters, in order.
    pub parameters: &'static [ParameterDescriptor],
    /// Its own time limit, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// What the client must be able to do.
    pub requires: Capabilities,
    /// What it may ask of the client.
    pub asks: Capabilities,
    /// How long its results stay fresh.
    pub cache: Option<CacheDescriptor>,
    /// Whether it is a method with `&self`.
    pub takes_instance: bool,
    /// Runs it.
    pub start: Start,
}

/// The kind of an annotated function.
pub enum OperationKind {
    /// `#[mcp_tool]`
    Tool(ToolDescriptor),
    /// `#[mcp_resource]`
    Resource(ResourceDescriptor),
    /// `#[mcp_resource_list]`
    ResourceList,
    /// `#[mcp_prompt]`
    Prompt,
    /// `#[mcp_completion]`
    Completion(CompletionDescriptor),
}

/// What only tools have.
pub struct ToolDescriptor {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Repeating it changes nothing more.
    pub idempotent: Option<bool>,
    /// It reaches beyond this server.
    pub open_world: Option<bool>,
    /// A schema written by hand.
    pub input_schema: Option<fn() -> Value>,
    /// What it does with unknown arguments.
    pub extra_arguments: Option<ExtraArguments>,
    /// The schema of its structured content.
    pub output_schema: fn(&mut SchemaGenerator) -> Option<Schema>,
}

/// What only resources have.
pub struct ResourceDescriptor {
    /// An exact URI, or a template.
    pub uri: &'static str,
    /// The MIME type of the contents.
    pub mime_type: Option<&'static str>,
    /// The size of the contents in bytes.
    pub size: Option<u64>,
}

/// What only completions have.
pub struct CompletionDescriptor {
    /// What is completed.
    pub target: CompletionTarget,
    /// Which argument, or variable, of it.
    pub argument: &'static str,
}

/// What a completion belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionTarget {
    /// The prompt of this name.
    Prompt(&'static str),
    /// The resource of this template.
    Resource(&'static str),
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParameterDescriptor {
    /// Its name on the wire; empty for an injected one without a name.
    pub name: &'static str,
    /// What it means.
    pub description: Option<&'static str>,
    /// A title for people.
    pub title: Option<&'static str>,
    /// The header that mirrors it, without `Mcp-Param-`.
    pub header: Option<&'static str>,
    /// Its default, as JSON.
    pub default: Option<fn() -> Result<Value, serde_json::Error>>,
    /// Its type.
    pub erased: ErasedParam,
}
