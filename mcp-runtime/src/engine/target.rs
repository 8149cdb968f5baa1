//! What a request asks for: a method with the parameters it needs.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;

use super::answer::unknown_resource;
use crate::{
    protocol::{
        Arguments, Condition, Envelope, Fault, InvalidCursor, Params, ProtocolError, Revision, excerpt,
    },
    registry::{
        CatalogItem, CatalogView,
        catalog::{Catalog, Entry, Found, PromptEntry, ToolEntry},
        lists::Pages,
    },
};

/// A request whose target exists.
pub(super) enum Target<'c, 'b> {
    /// `server/discover`
    Discover,
    /// `initialize`
    Initialize,
    /// `ping`
    Ping,
    /// A list whose pages are ready.
    List(&'c Pages, Option<&'b str>),
    /// A page of what a caller sees of a list.
    Seen(Bytes),
    /// A list of the application's own.
    ResourceList(&'c Entry, Option<&'b str>),
    /// `tools/call`
    Tool(&'c Arc<ToolEntry>, Option<&'b Arguments<'b>>),
    /// `prompts/get`
    Prompt(&'c PromptEntry, Option<&'b Arguments<'b>>),
    /// `resources/read`
    Resource(Found<'c>, &'b str),
    /// `completion/complete`; without an entry nothing is suggested.
    Completion(Option<&'c Entry>, CompletionRequest<'b>),
}

/// What is to be completed.
pub(super) struct CompletionRequest<'b> {
    pub argument: &'b str,
    pub value: &'b str,
    pub chosen: Option<&'b Arguments<'b>>,
}

/// What the client calls the target of a request, whether it exists or not.
pub(super) fn named<'b>(envelope: &'b Envelope<'_>) -> Option<&'b str> {
    let params = &envelope.params;
    match &*envelope.method {
        "tools/call" | "prompts/get" => params.name.value(),
        "resources/read" => params.uri.value(),
        _ => None,
    }
    .map(|name| &**name)
}

impl<'c, 'b> Target<'c, 'b> {
    /// Finds what a request asks for, in a caller's view. What that hides is answered for as what does not exist.
    pub(super) fn find(
        catalog: &'c Catalog,
        revision: Revision,
        view: &CatalogView,
        envelope: &'b Envelope<'_>,
    ) -> Result<Self, ProtocolError> {
        let params = &envelope.params;
        let list = |pages| list(pages, revision, view, envelope);
        match &*envelope.method {
            "server/discover" if revision.is_modern() => Ok(Self::Discover),
            "initialize" if !revision.is_modern() => Ok(Self::Initialize),
            "ping" if !revision.is_modern() => Ok(Self::Ping),
            "tools/list" => list(catalog.tool_pages.as_ref()),
            "prompts/list" => list(catalog.prompt_pages.as_ref()),
            "resources/templates/list" => list(catalog.template_pages.as_ref()),
            "resources/list" => match &catalog.resource_list {
                Some(own) => Ok(Self::ResourceList(own, cursor(params)?)),
                None => list(catalog.resource_pages.as_ref()),
            },
            "tools/call" if catalog.tool_pages.is_some() => {
                let name = required(&params.name, "/params/name")?;
                let arguments = arguments(params)?;
                let unknown =
                    || ProtocolError::new(Condition::NotFound, format!("unknown tool `{}`", excerpt(name)));
                let tool = catalog.tools.get(name).filter(|_| view.has(CatalogItem::Tool(name)));
                Ok(Self::Tool(tool.ok_or_else(unknown)?, arguments))
            }
            "prompts/get" if catalog.prompt_pages.is_some() => {
                let name = required(&params.name, "/params/name")?;
                let arguments = arguments(params)?;
                let unknown =
                    || ProtocolError::new(Condition::NotFound, format!("unknown prompt `{}`", excerpt(name)));
                let prompt = catalog.prompts.get(name).filter(|_| view.has(CatalogItem::Prompt(name)));
                Ok(Self::Prompt(prompt.ok_or_else(unknown)?, arguments))
            }
            "resources/read" if catalog.resource_pages.is_some() => {
                let uri = required(&params.uri, "/params/uri")?;
                let found = catalog.resource(uri).filter(|found| found.is_in(view));
                Ok(Self::Resource(found.ok_or_else(|| unknown_resource(uri))?, uri))
            }
            "completion/complete" if catalog.has_completions() => completion(catalog, view, params),
            _ => Err(unknown_method(envelope)),
        }
    }
}

fn unknown_method(envelope: &Envelope<'_>) -> ProtocolError {
    ProtocolError::new(
        Condition::MethodNotFound,
        format!("method `{}` is not served here", excerpt(&envelope.method)),
    )
}

fn list<'c, 'b>(
    pages: Option<&'c Pages>,
    revision: Revision,
    view: &CatalogView,
    envelope: &'b Envelope<'_>,
) -> Result<Target<'c, 'b>, ProtocolError> {
    let pages = pages.ok_or_else(|| unknown_method(envelope))?;
    let cursor = cursor(&envelope.params)?;
    if view.is_everything() {
        return Ok(Target::List(pages, cursor));
    }
    pages.page_for(revision, view, cursor).map(Target::Seen).map_err(bad_cursor)
}

pub(super) fn bad_cursor(_: InvalidCursor) -> ProtocolError {
    ProtocolError::new(Condition::NotFound, "the cursor is not one of this list: begin again without it")
}

pub(super) fn bad_params(faults: Vec<Fault>) -> ProtocolError {
    ProtocolError::new(Condition::InvalidMeta, "invalid params").with_faults(faults)
}

fn required<'p>(
    member: &'p crate::protocol::Member<Cow<'_, str>>,
    at: &str,
) -> Result<&'p str, ProtocolError> {
    let found = member.required(at, "a string");
    found.map(|text| &**text).map_err(|fault| bad_params(vec![fault]))
}

fn cursor<'p>(params: &'p Params<'_>) -> Result<Option<&'p str>, ProtocolError> {
    let found =
        params.cursor().optional("/params/cursor", "a string").map_err(|fault| bad_params(vec![fault]))?;
    match found.map(|cursor| &**cursor) {
        Some(long) if long.len() > crate::protocol::Cursor::MAX_BYTES => Err(bad_cursor(InvalidCursor)),
        cursor => Ok(cursor),
    }
}

fn arguments<'p>(params: &'p Params<'_>) -> Result<Option<&'p Arguments<'p>>, ProtocolError> {
    params.arguments.optional("/params/arguments", "an object").map_err(|fault| bad_params(vec![fault]))
}

fn completion<'c, 'b>(
    catalog: &'c Catalog,
    view: &CatalogView,
    params: &'b Params<'_>,
) -> Result<Target<'c, 'b>, ProtocolError> {
    let reference =
        params.reference().required("/params/ref", "an object").and_then(|reference| reference.target());
    let argument = params.argument().required("/params/argument", "an object");
    let name =
        argument.clone().and_then(|argument| argument.name.required("/params/argument/name", "a string"));
    let value = argument.and_then(|argument| argument.value.required("/params/argument/value", "a string"));
    let chosen = match params.context().optional("/params/context", "an object") {
        Ok(Some(context)) => context.arguments.optional("/params/context/arguments", "an object"),
        Ok(None) => Ok(None),
        Err(fault) => Err(fault),
    };
    match (reference, name, value, chosen) {
        (Ok(reference), Ok(argument), Ok(value), Ok(chosen)) => {
            let unknown = || ProtocolError::new(Condition::NotFound, "what `ref` names does not exist");
            let target =
                catalog.completed(reference).filter(|target| target.is_in(view)).ok_or_else(unknown)?;
            let request = CompletionRequest { argument, value, chosen };
            Ok(Target::Completion(catalog.completion(target, argument), request))
        }
        (reference, name, value, chosen) => {
            let mut faults: Vec<Fault> =
                [reference.err(), name.err(), value.err(), chosen.err()].into_iter().flatten().collect();
            faults.dedup();
            Err(bad_params(faults))
        }
    }
}
