//! Operations as data: what an endpoint is filled with, by annotation or by hand.

use std::{fmt, panic::Location, time::Duration};

use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use super::{
    closure::{BoundHandler, Handler, Runner, kind},
    descriptor::{ExtraArguments, IconDescriptor, Origin, ParameterDescriptor, Scope},
};
use crate::{
    handler::Needs,
    protocol::{CacheHint, CacheScope, Capabilities, Icon, IconTheme, UriTemplate},
};

/// Where an item comes from, for messages.
#[derive(Clone, Debug)]
pub(crate) struct Place(String);

impl Place {
    pub(super) fn annotated(origin: Origin) -> Self {
        Self(format!("`{}` ({}:{})", origin.item, origin.file, origin.line))
    }

    pub(super) fn by_hand(name: &str, location: &Location<'_>) -> Self {
        Self(format!("`{name}` ({}:{})", location.file(), location.line()))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What all operations have.
#[derive(Clone)]
pub(crate) struct Common {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub icons: Vec<Icon>,
    pub timeout: Option<Duration>,
    pub requires: Capabilities,
    pub asks: Capabilities,
    pub cache: Option<CacheHint>,
    pub place: Place,
    pub runner: Option<Runner>,
    pub parameters: Vec<ParameterDescriptor>,
}

impl Common {
    pub(super) fn by_hand(name: String, location: &Location<'_>) -> Self {
        let place = Place::by_hand(&name, location);
        Self {
            name,
            title: None,
            description: None,
            icons: Vec::new(),
            timeout: None,
            requires: Capabilities::NONE,
            asks: Capabilities::NONE,
            cache: None,
            place,
            runner: None,
            parameters: Vec::new(),
        }
    }

    /// What its parameters need.
    pub(super) fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        self.parameters.iter().for_each(|parameter| (parameter.erased.needs)(&mut needs));
        needs
    }

    fn bind(&mut self, handler: BoundHandler) -> fn(&mut SchemaGenerator) -> Option<Schema> {
        self.runner = Some(handler.runner);
        self.parameters = handler.parameters;
        handler.output_schema
    }
}

impl From<IconDescriptor> for Icon {
    fn from(icon: IconDescriptor) -> Self {
        let mut made = Self::new(icon.src);
        made.mime_type = icon.mime_type.map(str::to_owned);
        made.sizes = icon.sizes.iter().map(|size| (*size).to_owned()).collect();
        made.theme = icon.theme.and_then(|theme| match theme {
            "light" => Some(IconTheme::Light),
            "dark" => Some(IconTheme::Dark),
            _ => None,
        });
        made
    }
}

impl From<Scope> for CacheScope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Public => Self::Public,
            Scope::Private => Self::Private,
        }
    }
}

/// The setters that every operation has.
macro_rules! common_setters {
    ($kind:ty) => {
        /// Sets a title for people.
        #[must_use]
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.common.title = Some(title.into());
            self
        }

        /// Says what it does.
        #[must_use]
        pub fn description(mut self, description: impl Into<String>) -> Self {
            self.common.description = Some(description.into());
            self
        }

        /// Adds an image that stands for it.
        #[must_use]
        pub fn icon(mut self, icon: Icon) -> Self {
            self.common.icons.push(icon);
            self
        }

        /// Gives its handler a time limit of its own, instead of `request_timeout`.
        #[must_use]
        pub fn timeout(mut self, timeout: Duration) -> Self {
            self.common.timeout = Some(timeout);
            self
        }

        /// Names what the client must be able to do; checked before the handler runs (-32021).
        #[must_use]
        pub fn requires(mut self, capabilities: Capabilities) -> Self {
            self.common.requires = capabilities;
            self
        }

        /// Names what its handler may ask of the client ([`Ask`](crate::handler::Ask)), if it comes to it.
        #[must_use]
        pub fn asks(mut self, capabilities: Capabilities) -> Self {
            self.common.asks = capabilities;
            self
        }

        /// Sets what runs it.
        #[must_use]
        pub fn handler<Marker>(mut self, handler: impl Handler<$kind, Marker>) -> Self {
            self.bind(handler.bind());
            self
        }
    };
}

/// The hints of a tool for the client; it is free to distrust them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Repeating it changes nothing more.
    pub idempotent: Option<bool>,
    /// It reaches beyond this server.
    pub open_world: Option<bool>,
}

/// A tool, filled by hand.
///
/// ```
/// use mcp_runtime::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Sum { a: i64, b: i64 }
///
/// let add = Tool::new("add").description("Adds.").handler(async |Args(Sum { a, b }): Args<Sum>| (a + b).to_string());
/// let endpoint = Endpoint::builder("/mcp").name("sums").version("1.0.0").tool(add);
/// ```
#[derive(Clone)]
pub struct Tool {
    pub(crate) common: Common,
    pub(super) hints: ToolHints,
    pub(super) input_schema: Option<Value>,
    pub(super) extra_arguments: Option<ExtraArguments>,
    pub(super) output_schema: fn(&mut SchemaGenerator) -> Option<Schema>,
}

impl Tool {
    /// A tool of this name: 1 to 128 of `[A-Za-z0-9_.-]`.
    #[track_caller]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            common: Common::by_hand(name.into(), Location::caller()),
            hints: ToolHints::default(),
            input_schema: None,
            extra_arguments: None,
            output_schema: |_| None,
        }
    }

    common_setters!(kind::ToolKind);

    fn bind(&mut self, handler: BoundHandler) {
        self.output_schema = self.common.bind(handler);
    }

    /// Sets its hints.
    #[must_use]
    pub fn hints(mut self, hints: ToolHints) -> Self {
        self.hints = hints;
        self
    }

    /// Uses a schema written by hand. All of it is enforced, with the feature `constraints`.
    #[must_use]
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.input_schema = Some(schema);
        self
    }

    /// What happens to arguments that the schema does not name.
    #[must_use]
    pub fn extra_arguments(mut self, extra: ExtraArguments) -> Self {
        self.extra_arguments = Some(extra);
        self
    }
}

/// A resource or a template, filled by hand. `Args<T>` gives its handler the template's variables, as strings.
#[derive(Clone)]
pub struct Resource {
    pub(crate) common: Common,
    pub(crate) uri: String,
    pub(super) mime_type: Option<String>,
    pub(super) size: Option<u64>,
}

impl Resource {
    /// A resource at an exact URI or an RFC 6570 level-1 template, with a name.
    #[track_caller]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        let common = Common::by_hand(name.into(), Location::caller());
        Self { common, uri: uri.into(), mime_type: None, size: None }
    }

    common_setters!(kind::ResourceKind);

    /// Its template; `None` if its URI is exact, or no template that could be served.
    pub(super) fn template(&self) -> Option<UriTemplate> {
        self.uri.contains('{').then(|| UriTemplate::parse(&self.uri).ok()).flatten()
    }

    fn bind(&mut self, handler: BoundHandler) {
        self.common.bind(handler);
    }

    /// Sets the MIME type of its contents.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the size of its contents, in bytes.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// How long its contents stay fresh, and for whom.
    #[must_use]
    pub fn cache(mut self, hint: CacheHint) -> Self {
        self.common.cache = Some(hint);
        self
    }
}

/// An application's own list of resources, filled by hand.
#[derive(Clone)]
pub struct ResourceList {
    pub(crate) common: Common,
}

impl ResourceList {
    /// A list. `Args<T>` gives its handler `{ "cursor": … }` if the client asks for a later page.
    #[track_caller]
    #[must_use]
    pub fn new() -> Self {
        Self { common: Common::by_hand("resource list".to_owned(), Location::caller()) }
    }

    common_setters!(kind::PageKind);

    fn bind(&mut self, handler: BoundHandler) {
        self.common.bind(handler);
    }

    /// How long its pages stay fresh, and for whom.
    #[must_use]
    pub fn cache(mut self, hint: CacheHint) -> Self {
        self.common.cache = Some(hint);
        self
    }
}

impl Default for ResourceList {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

/// One argument of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) required: bool,
}

impl PromptArgument {
    /// An argument that may be left out.
    pub fn optional(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, required: false }
    }

    /// An argument that must be sent.
    pub fn required(name: impl Into<String>) -> Self {
        Self { required: true, ..Self::optional(name) }
    }

    /// Says what it means.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// A prompt, filled by hand. `Args<T>` gives its handler the arguments, as strings.
#[derive(Clone)]
pub struct Prompt {
    pub(crate) common: Common,
    pub(super) arguments: Vec<PromptArgument>,
}

impl Prompt {
    /// A prompt of this name.
    #[track_caller]
    pub fn new(name: impl Into<String>) -> Self {
        Self { common: Common::by_hand(name.into(), Location::caller()), arguments: Vec::new() }
    }

    common_setters!(kind::PromptKind);

    fn bind(&mut self, handler: BoundHandler) {
        self.common.bind(handler);
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.arguments.push(argument);
        self
    }
}

/// What a completion completes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Completed {
    Prompt(String),
    Resource(String),
}

/// A completion of one argument, filled by hand. `Args<T>` gives its handler `{ "value": … }` and what was already
/// chosen, as strings.
#[derive(Clone)]
pub struct CompletionSource {
    pub(crate) common: Common,
    pub(super) target: Completed,
    pub(super) argument: String,
}

impl CompletionSource {
    /// Completes an argument of a prompt.
    #[track_caller]
    pub fn prompt(name: impl Into<String>, argument: impl Into<String>) -> Self {
        Self::new(Completed::Prompt(name.into()), argument.into(), Location::caller())
    }

    /// Completes a variable of a resource template.
    #[track_caller]
    pub fn resource(template: impl Into<String>, variable: impl Into<String>) -> Self {
        Self::new(Completed::Resource(template.into()), variable.into(), Location::caller())
    }

    fn new(target: Completed, argument: String, location: &Location<'_>) -> Self {
        let common = Common::by_hand(format!("completion of {argument}"), location);
        Self { common, target, argument }
    }

    common_setters!(kind::CompletionKind);

    fn bind(&mut self, handler: BoundHandler) {
        self.common.bind(handler);
    }
}

macro_rules! debug {
    ($($type:ident),*) => {$(
        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).field("name", &self.common.name).finish_non_exhaustive()
            }
        }
    )*};
}
debug!(Tool, Resource, ResourceList, Prompt, CompletionSource);
