//! The keys of `#[mcp_tool]`, `#[mcp_resource]`, `#[mcp_resource_list]`, `#[mcp_prompt]` and `#[mcp_completion]`.

use std::fmt;

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, LitInt, LitStr, Meta, Path};

use super::{
    icon::Icon,
    keys::{Keys, not_one_of},
};
use crate::diagnostics::Diagnostics;

/// Which attribute a function carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    Tool,
    Resource,
    ResourceList,
    Prompt,
    Completion,
}

/// What one of these attributes says.
pub struct OperationAttribute {
    pub endpoint: Option<Path>,
    pub runtime: Option<Path>,
    pub name: Option<LitStr>,
    pub title: Option<LitStr>,
    pub description: Option<LitStr>,
    pub icons: Vec<Icon>,
    pub timeout: Option<(u64, LitStr)>,
    /// The client capabilities without which it can't be called.
    pub requires: Capabilities,
    /// Those that it may use.
    pub asks: Capabilities,
    pub cache: Option<Cache>,
    pub keys: OperationKeys,
}

/// What only one kind of operation has.
pub enum OperationKeys {
    Tool(ToolKeys),
    Resource(ResourceKeys),
    ResourceList,
    Prompt,
    Completion(CompletionKeys),
}

pub struct ToolKeys {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
    pub input_schema: Option<Path>,
    pub extra_arguments: Option<ExtraArguments>,
}

pub struct ResourceKeys {
    pub uri: LitStr,
    pub mime_type: Option<LitStr>,
    pub size: Option<(u64, LitInt)>,
}

pub struct CompletionKeys {
    pub target: Target,
    pub argument: LitStr,
}

/// Whose argument is completed.
pub enum Target {
    Prompt(LitStr),
    Resource(LitStr),
}

/// Capabilities of a client.
#[derive(Clone, Copy, Default)]
pub struct Capabilities {
    pub sampling: bool,
    pub sampling_tools: bool,
    pub elicitation: bool,
    pub elicitation_url: bool,
    pub roots: bool,
}

/// How long a client may keep a result, and for whom.
#[derive(Clone, Copy)]
pub struct Cache {
    pub ttl_ms: u64,
    pub scope: Scope,
}

#[derive(Clone, Copy)]
pub enum Scope {
    Public,
    Private,
}

#[derive(Clone, Copy)]
pub enum ExtraArguments {
    Refuse,
    Ignore,
}

impl OperationKind {
    const ALL: [Self; 5] = [Self::Tool, Self::Resource, Self::ResourceList, Self::Prompt, Self::Completion];

    /// The kind that an attribute on a function stands for, if it is one of ours.
    pub fn of(attribute: &Attribute) -> Option<Self> {
        let name = &attribute.path().segments.last()?.ident;
        Self::ALL.into_iter().find(|kind| name == kind.attribute())
    }

    /// The name of the attribute.
    pub fn attribute(self) -> &'static str {
        match self {
            Self::Tool => "mcp_tool",
            Self::Resource => "mcp_resource",
            Self::ResourceList => "mcp_resource_list",
            Self::Prompt => "mcp_prompt",
            Self::Completion => "mcp_completion",
        }
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::ResourceList => "resource list",
            Self::Prompt => "prompt",
            Self::Completion => "completion",
        })
    }
}

impl OperationAttribute {
    /// Reads the keys of an attribute of this kind that stands at `span`. `None` if something is missing without
    /// which there is no operation; that is reported, like everything else that is wrong.
    pub fn read(
        kind: OperationKind,
        span: Span,
        tokens: TokenStream,
        errors: &mut Diagnostics,
    ) -> Option<Self> {
        let attribute = format!("`#[{}]`", kind.attribute());
        let mut keys = Keys::parse(&attribute, span, tokens, errors);
        let own = OperationKeys::read(kind, span, &mut keys);
        let listed = !matches!(kind, OperationKind::ResourceList | OperationKind::Completion);
        let cached = matches!(kind, OperationKind::Resource | OperationKind::ResourceList);
        let name = listed.then(|| keys.string("name")).flatten();
        let title = listed.then(|| keys.string("title")).flatten();
        let description = listed.then(|| keys.string("description")).flatten();
        let icons = if listed { Icon::list(&mut keys) } else { Vec::new() };
        let timeout = keys.duration("timeout");
        let requires = Capabilities::read("requires", &mut keys);
        // Only these may answer that they need input (specification: `basic/patterns/mrtr`, supported requests).
        let asks = if listed { Capabilities::read("asks", &mut keys) } else { Capabilities::default() };
        let cache = cached.then(|| Cache::read(&mut keys)).flatten();
        let endpoint = keys.path("endpoint", "Catalog");
        let runtime = keys.path("crate", "path::to::mcp_runtime");
        keys.finish();
        Some(Self {
            endpoint,
            runtime,
            name,
            title,
            description,
            icons,
            timeout,
            requires,
            asks,
            cache,
            keys: own?,
        })
    }
}

impl OperationKeys {
    fn read(kind: OperationKind, span: Span, keys: &mut Keys<'_>) -> Option<Self> {
        Some(match kind {
            OperationKind::Tool => Self::Tool(ToolKeys {
                read_only: keys.flag("read_only"),
                destructive: keys.flag("destructive"),
                idempotent: keys.flag("idempotent"),
                open_world: keys.flag("open_world"),
                input_schema: keys.path("input_schema", "schema_of_search"),
                extra_arguments: ExtraArguments::read(keys),
            }),
            OperationKind::Resource => {
                let uri = keys.required("uri");
                let mime_type = keys.string("mime_type");
                let size = keys.bytes("size");
                Self::Resource(ResourceKeys { uri: uri?, mime_type, size })
            }
            OperationKind::ResourceList => Self::ResourceList,
            OperationKind::Prompt => Self::Prompt,
            OperationKind::Completion => {
                let given = keys.has("prompt") || keys.has("resource");
                let (prompt, resource) = (keys.string("prompt"), keys.string("resource"));
                let argument = keys.required("argument");
                let target = match (prompt, resource) {
                    (Some(prompt), None) => Target::Prompt(prompt),
                    (None, Some(resource)) => Target::Resource(resource),
                    (Some(_), Some(resource)) => {
                        keys.errors
                            .error(resource, "a completion has one target: keep `prompt` or `resource`");
                        return None;
                    }
                    (None, None) if given => return None,
                    (None, None) => {
                        let message = "`#[mcp_completion]` needs a target: write `prompt = \"…\"` or `resource = \"…\"`";
                        keys.errors.error_at(span, message);
                        return None;
                    }
                };
                Self::Completion(CompletionKeys { target, argument: argument? })
            }
        })
    }
}

impl Capabilities {
    const WORDS: [&str; 5] = ["elicitation", "elicitation_url", "sampling", "sampling_tools", "roots"];

    /// Takes the key `key(elicitation, …)`.
    fn read(key: &'static str, keys: &mut Keys<'_>) -> Self {
        let mut named = Self::default();
        for word in keys.words(key, "elicitation").unwrap_or_default() {
            match word.to_string().as_str() {
                "elicitation" => named.elicitation = true,
                "elicitation_url" => named.elicitation_url = true,
                "sampling" => named.sampling = true,
                "sampling_tools" => named.sampling_tools = true,
                "roots" => named.roots = true,
                other => {
                    let known = Self::WORDS.into_iter();
                    keys.errors.error(&word, not_one_of(key, other, known, str::to_owned));
                }
            }
        }
        named
    }
}

impl Cache {
    /// Takes the keys `ttl` and `scope`.
    pub fn read(keys: &mut Keys<'_>) -> Option<Self> {
        let ttl = keys.duration("ttl");
        let scope = keys.choice("scope", &[("public", Scope::Public), ("private", Scope::Private)]);
        if ttl.is_none() && scope.is_none() {
            return None;
        }
        let ttl_ms = ttl.map_or(0, |(milliseconds, _)| milliseconds);
        Some(Self { ttl_ms, scope: scope.unwrap_or(Scope::Private) })
    }
}

impl ExtraArguments {
    /// Takes the key `extra_arguments`.
    pub fn read(keys: &mut Keys<'_>) -> Option<Self> {
        keys.choice("extra_arguments", &[("refuse", Self::Refuse), ("ignore", Self::Ignore)])
    }
}

/// The tokens between the parentheses of an attribute that was found on an item.
pub fn arguments(attribute: &Attribute, errors: &mut Diagnostics) -> TokenStream {
    match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        Meta::Path(_) => TokenStream::new(),
        Meta::NameValue(assigned) => {
            errors.error(&assigned.value, "an attribute's keys stand in parentheses: `(key = …)`");
            TokenStream::new()
        }
    }
}
