//! From a message to its reply: the checks in their order, and the start of the handler.

use std::{borrow::Cow, sync::Arc, time::Duration};

use http::{Extensions, HeaderMap};
use tokio::time::{Instant, timeout_at};

use super::{
    AdmissionChoice, Answer, Channel, Conversation, Denied, DynRateLimit, Engine, Incoming, RateLimited,
    Reply,
    admission::AdmissionRequest,
    answer::{Kind, Read},
    handling::{Handling, Started, guarded},
    target::{CompletionRequest, Target, bad_cursor, named},
};
use crate::{
    handler::{ArgumentReader, Caller, CancellationToken, Framing},
    protocol::{
        Arguments, CacheHint, Condition, Envelope, EnvelopeError, Fault, Introduction, Meta, ProtocolError,
        RequestId, Revision, write_response,
    },
    registry::CatalogView,
};

/// How long a client should wait when there is no room.
const RETRY: Duration = Duration::from_secs(1);
/// What a client is told that comes too late.
pub(super) const SHUTTING_DOWN: &str = "the server is shutting down";

/// A request that was admitted.
pub(super) struct Admitted<'b> {
    pub(super) id: &'b RequestId,
    pub(super) envelope: &'b Envelope<'b>,
    pub(super) meta: &'b Meta<'b>,
    pub(super) revision: Revision,
    /// What the client said of itself before; a modern request says it itself.
    pub(super) client: Option<Arc<Introduction>>,
    pub(super) caller: Caller,
}

/// What moves from the transport's request into the invocation.
pub(super) struct Carried {
    pub(super) arrived: Instant,
    pub(super) token: CancellationToken,
    pub(super) framing: Framing,
    /// Whether headers mirror the body.
    pub(super) mirrored: bool,
    /// What the request is a part of, if anything is remembered.
    pub(super) conversation: Option<Arc<Conversation>>,
    pub(super) headers: HeaderMap,
    pub(super) extensions: Extensions,
}

impl From<Incoming<'_>> for Carried {
    fn from(incoming: Incoming<'_>) -> Self {
        let Incoming { arrived, token, channel, .. } = incoming;
        let framing = channel.framing();
        let (mirrored, conversation, headers, extensions) = match channel {
            Channel::Http { headers, extensions } => (true, None, headers, extensions),
            Channel::Lines { extensions, conversation } => {
                (false, Some(conversation), HeaderMap::new(), extensions)
            }
        };
        Self { arrived, token, framing, mirrored, conversation, headers, extensions }
    }
}

impl Engine {
    /// Answers one message. Nothing is waited for here; dropping the future cancels the request.
    pub(crate) fn handle<'e>(&'e self, incoming: Incoming<'e>) -> Handling<'e> {
        if self.asks() {
            return Handling::Waiting(Box::pin(async move {
                match Envelope::parse(incoming.body) {
                    Ok(envelope) => self.ask(&envelope, Carried::from(incoming)).await,
                    Err(error) => malformed(error).into(),
                }
            }));
        }
        match Envelope::parse(incoming.body) {
            Ok(envelope) => self.begin(&envelope, incoming.into()),
            Err(error) => Handling::replied(malformed(error)),
        }
    }

    /// [`handle`](Self::handle) for a message that its transport has parsed already.
    pub(crate) fn handle_parsed<'e>(
        &'e self,
        envelope: &'e Envelope<'e>,
        incoming: Incoming<'_>,
    ) -> Handling<'e> {
        match self.asks() {
            true => Handling::Waiting(Box::pin(self.ask(envelope, incoming.into()))),
            false => self.begin(envelope, incoming.into()),
        }
    }

    /// Whether somebody is asked before a request is admitted.
    fn asks(&self) -> bool {
        self.shared.request_limit.is_some()
            || self.shared.policy.is_some()
            || matches!(self.shared.admission, AdmissionChoice::Custom(_))
    }

    /// Starts a message of a caller about whom nobody is asked.
    fn begin(&self, envelope: &Envelope<'_>, carried: Carried) -> Handling<'_> {
        Handling::start(self.span(envelope), envelope.id.as_ref(), || {
            let revision = self.check(envelope, &carried)?;
            self.admitted(envelope, carried, revision, Caller::anonymous(), &CatalogView::everything())
                .map_err(|refused| refused.in_revision(revision))
        })
    }

    /// Answers a message after asking about its caller.
    async fn ask(&self, envelope: &Envelope<'_>, carried: Carried) -> Reply {
        let request = async {
            let revision = self.check(envelope, &carried)?;
            let answered = async {
                let caller = self.admit(envelope, &carried, revision).await?;
                let deadline = carried.arrived + self.shared.limits.request_timeout;
                let view = self.view(&caller, revision, deadline).await?;
                if envelope.id.is_some() {
                    // Admission may have taken its time.
                    self.check_running()?;
                }
                self.admitted(envelope, carried, revision, caller, &view)?.replied().await
            };
            answered.await.map_err(|refused| refused.in_revision(revision))
        };
        guarded(self.span(envelope), envelope.id.clone(), request).await
    }

    /// Starts a message whose caller is known.
    fn admitted(
        &self,
        envelope: &Envelope<'_>,
        mut carried: Carried,
        revision: Revision,
        caller: Caller,
        view: &CatalogView,
    ) -> Result<Started<'_>, Refused> {
        let Some(id) = &envelope.id else {
            return Ok(Started::Answered(Reply::Accepted));
        };
        let (legacy, mut client) = (!revision.is_modern(), None);
        let legacy_meta;
        let meta = match envelope.params.meta.value() {
            Some(meta) if !legacy => meta,
            // A modern request has metadata.
            meta => {
                legacy_meta = meta.map(Meta::to_legacy).unwrap_or_default();
                &legacy_meta
            }
        };
        if legacy {
            carried.mirrored = false;
            client = carried.conversation.as_ref().and_then(|conversation| conversation.client());
        }
        let request = Admitted { id, envelope, meta, revision, client, caller };
        if !legacy && envelope.method == "subscriptions/listen" && !self.catalog.changes.is_empty() {
            return self.listen(&request, carried, view);
        }
        let target = Target::find(&self.catalog, revision, view, envelope)?;
        self.start(&request, target, carried)
    }

    /// A span by OpenTelemetry's conventions for MCP.
    fn span(&self, envelope: &Envelope<'_>) -> tracing::Span {
        let target = named(envelope);
        tracing::debug_span!(
            "mcp.request",
            otel.name = target
                .map_or(Cow::Borrowed(&*envelope.method), |target| format!("{} {target}", envelope.method)
                    .into())
                .as_ref(),
            otel.kind = "server",
            mcp.method.name = &*envelope.method,
            jsonrpc.request.id = envelope.id.as_ref().map(tracing::field::display),
            gen_ai.tool.name = target.filter(|_| envelope.method == "tools/call"),
            gen_ai.prompt.name = target.filter(|_| envelope.method == "prompts/get"),
            mcp.resource.uri = target.filter(|_| envelope.method == "resources/read"),
            server.address = &*self.catalog.info.path,
        )
    }

    /// Answers at once, or gets a handler ready.
    fn start(
        &self,
        request: &Admitted<'_>,
        target: Target<'_, '_>,
        carried: Carried,
    ) -> Result<Started<'_>, Refused> {
        let done = |id: &RequestId, result: &[u8]| {
            let mut message = Vec::with_capacity(result.len() + 64);
            write_response(id, &mut message, |out| out.extend_from_slice(result));
            Started::Answered(Reply::Answer(Answer::ok(message)))
        };
        match target {
            Target::Discover => Ok(done(request.id, &self.catalog.discover)),
            Target::Initialize => self.initialize(request, carried.conversation.as_deref()),
            Target::Ping => Ok(done(request.id, b"{}")),
            Target::List(pages, cursor) => {
                Ok(done(request.id, pages.page(request.revision, cursor).map_err(bad_cursor)?))
            }
            Target::Seen(page) => Ok(done(request.id, &page)),
            Target::Tool(tool, arguments) => self.start_tool(request, tool, arguments, carried),
            Target::Prompt(prompt, arguments) => {
                let texts = texts(arguments)?;
                let values: Vec<(&str, &str)> = texts.iter().map(|(name, value)| (*name, &**value)).collect();
                let reader = ArgumentReader::text(&values, Some(&prompt.known));
                self.prepare(request, &prompt.entry, Kind::Prompt, reader, carried)
            }
            Target::Resource(found, uri) => {
                let values: Vec<(&str, &str)> =
                    found.variables.iter().map(|(name, value)| (*name, &**value)).collect();
                let kind = Kind::Resource(Box::new(Read {
                    uri: uri.into(),
                    cache: found.resource.entry.cache,
                    mime_type: found.resource.mime_type.clone(),
                }));
                self.prepare(
                    request,
                    &found.resource.entry,
                    kind,
                    ArgumentReader::text(&values, None),
                    carried,
                )
            }
            Target::ResourceList(list, cursor) => {
                let values: Vec<(&str, &str)> = cursor.map(|cursor| ("cursor", cursor)).into_iter().collect();
                let cache = if self.shared.policy.is_some() { CacheHint::default() } else { list.cache };
                let kind = Kind::Page { cache };
                self.prepare(request, list, kind, ArgumentReader::text(&values, None), carried)
            }
            Target::Completion(None, _) => {
                let mut message = Vec::new();
                let nothing = crate::protocol::Completion::default();
                let wire = self.catalog.wire(request.revision);
                write_response(request.id, &mut message, |out| nothing.write_result(wire, out));
                Ok(Started::Answered(Reply::Answer(Answer::ok(message))))
            }
            Target::Completion(Some(entry), CompletionRequest { argument, value, chosen }) => {
                let chosen = texts(chosen)?;
                // What is being typed goes by the argument's name, and by `value`.
                let typed = [(argument, value), ("value", value)];
                let mut values = typed.to_vec();
                let others = chosen.iter().filter(|(name, _)| typed.iter().all(|(taken, _)| taken != name));
                values.extend(others.map(|(name, value)| (*name, &**value)));
                self.prepare(request, entry, Kind::Completion, ArgumentReader::text(&values, None), carried)
            }
        }
    }

    pub(super) fn check_running(&self) -> Result<(), ProtocolError> {
        if self.shared.lifecycle.is_running() {
            return Ok(());
        }
        Err(overloaded(SHUTTING_DOWN))
    }

    /// Who calls, if they may, and not too often; within the time that every request has.
    async fn admit(
        &self,
        envelope: &Envelope<'_>,
        carried: &Carried,
        revision: Revision,
    ) -> Result<Caller, Refused> {
        let limit = self.shared.request_limit.as_deref();
        let admitted = async {
            let caller = self.caller(envelope, carried, revision).await?;
            self.limit(limit, &caller, &envelope.method, None).await?;
            Ok(caller)
        };
        let deadline = carried.arrived + self.shared.limits.request_timeout;
        timeout_at(deadline, admitted).await.unwrap_or_else(|_| Err(late().into()))
    }

    async fn caller(
        &self,
        envelope: &Envelope<'_>,
        carried: &Carried,
        revision: Revision,
    ) -> Result<Caller, Refused> {
        let AdmissionChoice::Custom(admission) = &self.shared.admission else {
            return Ok(Caller::anonymous());
        };
        let request = AdmissionRequest {
            headers: &carried.headers,
            extensions: &carried.extensions,
            endpoint: &self.catalog.info,
            revision,
            method: &envelope.method,
            target: named(envelope),
        };
        let denied =
            |denied: Denied| Refused { error: Box::new(denied.error()), challenge: denied.challenge };
        admission.admit(&request).await.map_err(denied)
    }

    pub(super) async fn limit(
        &self,
        limit: Option<&dyn DynRateLimit>,
        caller: &Caller,
        method: &str,
        tool: Option<&str>,
    ) -> Result<(), ProtocolError> {
        let Some(limit) = limit else { return Ok(()) };
        let request = RateLimited { caller, endpoint: &self.catalog.info, method, tool };
        let slow_down = |delay| {
            ProtocolError::new(Condition::RateLimited, "too many requests: slow down").retry_after(delay)
        };
        limit.check(&request).await.map_err(slow_down)
    }
}

/// A request that gets an error, with what HTTP adds to it.
pub(super) struct Refused {
    pub(super) error: Box<ProtocolError>,
    pub(super) challenge: Option<http::HeaderValue>,
}

impl Refused {
    pub(super) fn answer(self, id: Option<&RequestId>) -> Answer {
        Answer { challenge: self.challenge, ..Answer::error(&self.error, id) }
    }
}

impl Refused {
    /// The same with the code and the status of a revision.
    pub(super) fn in_revision(mut self, revision: Revision) -> Self {
        *self.error = self.error.in_revision(revision);
        self
    }
}

impl From<ProtocolError> for Refused {
    fn from(error: ProtocolError) -> Self {
        Self { error: Box::new(error), challenge: None }
    }
}

fn malformed(error: EnvelopeError) -> Answer {
    let id = error.id.clone();
    Answer::error(&error.into(), id.as_ref())
}

pub(super) fn mismatch(faults: Vec<Fault>) -> ProtocolError {
    ProtocolError::new(Condition::HeaderMismatch, "the headers don't match the body").with_faults(faults)
}

pub(super) fn overloaded(message: &'static str) -> ProtocolError {
    ProtocolError::new(Condition::Overloaded, message).retry_after(RETRY)
}

pub(super) fn late() -> ProtocolError {
    overloaded("the deadline passed before there was room")
}

/// Arguments that are strings by definition, of prompts and completions.
fn texts<'a>(arguments: Option<&'a Arguments<'_>>) -> Result<Vec<(&'a str, Cow<'a, str>)>, ProtocolError> {
    let mut texts = Vec::new();
    let mut faults = Vec::new();
    for (name, raw) in arguments.into_iter().flat_map(Arguments::iter) {
        match serde_json::from_str::<Text<'_>>(raw.get()) {
            Ok(Text(text)) => texts.push((name, text)),
            Err(_) if faults.len() < Fault::MOST => {
                faults.push(Fault::new(name, format!("expected a string, found {}", raw.kind())));
            }
            Err(_) => break,
        }
    }
    if faults.is_empty() {
        return Ok(texts);
    }
    Err(ProtocolError::new(Condition::NotFound, "the arguments must be strings").with_faults(faults))
}

/// A string, borrowed unless it has escapes.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
