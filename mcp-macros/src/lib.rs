//! The attributes of the `mcp-runtime` framework, which re-exports them: depend on that crate, not on this one.
//!
//! | Attribute | On | Declares |
//! | --- | --- | --- |
//! | [`mcp_endpoint`](macro@mcp_endpoint) | a struct | an endpoint: a path, and a server behind it |
//! | [`mcp_endpoint`](macro@mcp_endpoint) | an `impl` block of it | that the annotated methods belong to it |
//! | [`mcp_tool`](macro@mcp_tool) | a function | a tool |
//! | [`mcp_resource`](macro@mcp_resource) | a function | a resource, or a template of resources |
//! | [`mcp_resource_list`](macro@mcp_resource_list) | a function | an application's own listing of resources |
//! | [`mcp_prompt`](macro@mcp_prompt) | a function | a prompt |
//! | [`mcp_completion`](macro@mcp_completion) | a function | completions of one argument |
//! | [`ElicitationForm`](derive@ElicitationForm) | a struct | a form that a person can be asked to fill in |
//!
//! # Functions
//!
//! An annotated function stays a function: it can be called, tested and documented like any other. It is an `async fn`,
//! or a plain `fn`, which then runs on the blocking pool. It is neither generic nor `unsafe`, and owns its parameters
//! and its result. Methods take `&self` or nothing of their own.
//!
//! The type of a parameter decides what it is. `Option<ProgressReporter>`, `CancellationToken`, `RequestContext`,
//! `State<T>`, `Extension<T>`, `Ask` and whatever else implements `FromInvocation` is injected; everything else is an
//! argument of the call. Aliases and renamed imports make no difference.
//!
#![doc = include_str!("keys/parameter.md")]
//!
#![doc = include_str!("keys/operation.md")]
//!
//! # Errors
//!
//! Everything that is wrong with an item is reported at once, each fault at its own token. What syntax can't decide,
//! such as whether a type can be injected, the compiler decides by traits and reports at the type. What concerns an
//! endpoint as a whole, such as two tools of one name in different modules, is found when the server is built.

mod attribute;
mod diagnostics;
mod docs;
mod expand;
mod item;
mod operation;
mod signature;
#[cfg(test)]
mod testing;
mod validate;

use proc_macro::TokenStream;

use crate::attribute::OperationKind;

/// Declares an endpoint, or adds methods to it.
///
/// On a struct, once:
///
/// | Key | Meaning |
/// | --- | --- |
/// | `path = "/catalog/mcp"` | where it is served; required |
/// | `name = "catalog"` | the name of the server behind it; required |
/// | `version = "1.0.0"` | that server's version; required |
/// | `title = "…"` | what people call it |
/// | `description = "…"` | what it is for; by default the struct's doc comment |
/// | `website_url = "https://…"` | a page about it |
/// | `instructions = "…"` | how a model should use it |
/// | `icons(…)` | images that stand for it |
/// | `revisions("2026-07-28")` | the revisions of the protocol that it serves; by default all that the framework does |
/// | `ttl = "30s"` | how long clients may keep its lists |
/// | `scope = "public"` or `"private"` | whether a cache may share them |
/// | `extra_arguments = "refuse"` or `"ignore"` | what its tools do with arguments that their schemas don't name |
/// | `changes(tools, prompts, resources, updates)` | what clients may subscribe to: changes of its lists, and updates of single resources |
/// | `subscribable = path` | a `fn(&str) -> bool`: URIs that may be subscribed to although no resource or template serves them |
/// | `crate = path` | where `mcp_runtime` is found |
///
/// A struct without fields needs nothing more. One with fields is handed to the server as an instance, which all calls
/// share.
///
/// On any number of its `impl` blocks, without keys (but `crate = path`): the annotated methods become operations of
/// the endpoint.
///
/// ```ignore
/// /// Spare parts, searchable.
/// #[mcp_endpoint(path = "/catalog/mcp", name = "catalog", version = "1.0.0")]
/// struct Catalog {
///     stock: Stock,
/// }
///
/// #[mcp_endpoint]
/// impl Catalog {
///     /// Counts the parts of a kind.
///     #[mcp_tool(read_only)]
///     async fn count(&self, kind: String) -> String {
///         self.stock.count(&kind).to_string()
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn mcp_endpoint(keys: TokenStream, item: TokenStream) -> TokenStream {
    item::endpoint(keys.into(), &item.into()).into()
}

/// Makes a function a tool.
///
/// Arguments implement `serde::Deserialize` and `schemars::JsonSchema`; the tool's input schema is derived from them,
/// and what it says is enforced. An argument that can be absent (an `Option`) is optional, and so is one with a
/// `default`. The function returns text, `Json<T>` (structured content with a derived output schema), content blocks,
/// a `ToolResult`, or a `Result` of one of these with `ToolError`.
///
/// | Key | Meaning |
/// | --- | --- |
/// | `read_only` | it changes nothing; `read_only = false` says that it does |
/// | `destructive` | it may destroy something |
/// | `idempotent` | calling it again with the same arguments changes nothing more |
/// | `open_world` | it reaches beyond this server |
/// | `input_schema = path` | a `fn() -> serde_json::Value` that makes the input schema, in place of the derived one |
/// | `extra_arguments = "refuse"` or `"ignore"` | what it does with arguments that the schema doesn't name |
/// | and | the keys of all operations, below |
///
/// Parameters take keys too, below.
///
/// ```ignore
/// /// Searches the catalog.
/// #[mcp_tool(endpoint = Catalog, read_only, timeout = "5m")]
/// async fn search(
///     /// Text to look for.
///     query: String,
///     /// How many matches at most.
///     #[mcp(default = 10)]
///     limit: u32,
///     progress: Option<ProgressReporter>,
///     cancellation: CancellationToken,
///     State(stock): State<Stock>,
/// ) -> Result<Json<Matches>, ToolError> {
///     // …
/// }
/// ```
///
#[doc = include_str!("keys/operation.md")]
///
#[doc = include_str!("keys/parameter.md")]
#[proc_macro_attribute]
pub fn mcp_tool(keys: TokenStream, item: TokenStream) -> TokenStream {
    item::operation(OperationKind::Tool, keys.into(), &item.into()).into()
}

/// Makes a function a resource, or a template of resources.
///
/// The variables of a template (RFC 6570, level 1) and the function's arguments are one-to-one; an argument is a
/// `String`, or another type that implements `FromStr`. The function returns `Text`, `Blob`, `Json<T>`,
/// `ResourceContents`, or a `Result` of one of these with `ResourceError`.
///
/// | Key | Meaning |
/// | --- | --- |
/// | `uri = "catalog://parts/{id}"` | an exact URI or a template; required |
/// | `mime_type = "text/plain"` | the type of its contents |
/// | `size = 1024` | their size in bytes; not for templates |
/// | `ttl = "30s"` | how long clients may keep them |
/// | `scope = "public"` or `"private"` | whether a cache may share them |
/// | and | the keys of all operations, below |
///
/// ```ignore
/// /// One part.
/// #[mcp_resource(endpoint = Catalog, uri = "catalog://parts/{id}", mime_type = "text/plain")]
/// async fn part(id: u64, State(stock): State<Stock>) -> Result<Text, ResourceError> {
///     // …
/// }
/// ```
///
#[doc = include_str!("keys/operation.md")]
///
#[doc = include_str!("keys/parameter.md")]
#[proc_macro_attribute]
pub fn mcp_resource(keys: TokenStream, item: TokenStream) -> TokenStream {
    item::operation(OperationKind::Resource, keys.into(), &item.into()).into()
}

/// Makes a function an endpoint's own listing of resources, in place of the list of what is annotated.
///
/// Its only argument, if it takes one, is `cursor: Option<String>`: what the page before said, or `None` for the first.
/// It returns a `ResourcePage`, all entries at once, or a `Result` of one of these with `ResourceError`.
///
/// | Key | Meaning |
/// | --- | --- |
/// | `ttl = "30s"` | how long clients may keep a page |
/// | `scope = "public"` or `"private"` | whether a cache may share it |
/// | and | `endpoint`, `timeout`, `requires` and `crate` of the keys of all operations, below |
///
/// ```ignore
/// #[mcp_resource_list(endpoint = Catalog, ttl = "30s")]
/// async fn parts(cursor: Option<String>, State(stock): State<Stock>) -> Result<ResourcePage, ResourceError> {
///     // …
/// }
/// ```
///
#[doc = include_str!("keys/operation.md")]
///
#[doc = include_str!("keys/parameter.md")]
#[proc_macro_attribute]
pub fn mcp_resource_list(keys: TokenStream, item: TokenStream) -> TokenStream {
    item::operation(OperationKind::ResourceList, keys.into(), &item.into()).into()
}

/// Makes a function a prompt.
///
/// Arguments are `String`, or `Option<String>` for optional ones. The function returns text (one message of the user),
/// `PromptMessage`s, a `PromptResult`, or a `Result` of one of these with `PromptError`.
///
/// It takes the keys of all operations, below, and no others.
///
/// ```ignore
/// /// Asks for a comparison of two parts.
/// #[mcp_prompt(endpoint = Catalog)]
/// async fn compare(
///     /// The number of one part.
///     first: String,
///     /// The number of the other.
///     second: String,
/// ) -> String {
///     format!("Compare the parts {first} and {second}.")
/// }
/// ```
///
#[doc = include_str!("keys/operation.md")]
///
#[doc = include_str!("keys/parameter.md")]
#[proc_macro_attribute]
pub fn mcp_prompt(keys: TokenStream, item: TokenStream) -> TokenStream {
    item::operation(OperationKind::Prompt, keys.into(), &item.into()).into()
}

/// Makes a function complete an argument of a prompt, or a variable of a resource template.
///
/// It takes `value: String`, what was typed so far, and what was already chosen for other arguments as
/// `Option<String>`s of their names. It returns the values, best first (`Vec<String>`), a `Completion` with a total, or
/// a `Result` of one of these with `CompletionError`.
///
/// | Key | Meaning |
/// | --- | --- |
/// | `prompt = "compare"` | the name of the prompt; this or `resource` is required |
/// | `resource = "catalog://parts/{id}"` | the template of the resource |
/// | `argument = "first"` | the argument or variable; required |
/// | and | `endpoint`, `timeout`, `requires` and `crate` of the keys of all operations, below |
///
/// ```ignore
/// #[mcp_completion(endpoint = Catalog, prompt = "compare", argument = "second")]
/// async fn second(value: String, first: Option<String>, State(stock): State<Stock>) -> Vec<String> {
///     // …
/// }
/// ```
///
#[doc = include_str!("keys/operation.md")]
///
#[doc = include_str!("keys/parameter.md")]
#[proc_macro_attribute]
pub fn mcp_completion(keys: TokenStream, item: TokenStream) -> TokenStream {
    item::operation(OperationKind::Completion, keys.into(), &item.into()).into()
}

/// Makes a struct a form that a person can be asked to fill in.
///
/// Derived beside `serde::Deserialize` and `schemars::JsonSchema`. The fields are texts, numbers, booleans, enums without
/// data, `Vec`s of such enums, or an `Option` of one of these; what their schemas say (descriptions, titles, bounds,
/// defaults) the person sees. Types that no form can show are told when the server is built.
///
/// `#[mcp(crate = path)]` says where `mcp_runtime` is found, if it is not a dependency of this name.
///
/// ```ignore
/// #[derive(Deserialize, JsonSchema, ElicitationForm)]
/// struct Booking {
///     /// Under which name?
///     name: String,
///     #[schemars(range(min = 1, max = 12))]
///     guests: u8,
///     seat: Option<Seat>,
/// }
/// ```
#[proc_macro_derive(ElicitationForm, attributes(mcp))]
pub fn elicitation_form(item: TokenStream) -> TokenStream {
    item::form(item.into()).into()
}
