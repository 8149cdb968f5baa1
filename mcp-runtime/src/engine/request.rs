//! From a message to its reply: the checks in their order, and the start of the handler.

use std::{borrow::Cow, future::poll_fn, pin::pin, time::Duration};

use http::{Extensions, HeaderMap};
use tokio::time::{Instant, timeout_at};

use super::{
    AdmissionChoice, Answer, Channel, Denied, DynRateLimit, Engine, Incoming, RateLimited, Reply,
    admission::AdmissionRequest,
    answer::Kind,
    headers,
    invoke::Started,
    panic::{Panic, poll_caught},
    target::{CompletionRequest, Target, bad_cursor, named},
};
use crate::{
    handler::{ArgumentReader, Caller, CancellationToken, Framing},
    protocol::{
        Arguments, Condition, Envelope, EnvelopeError, Fault, JsonType, Meta, ProtocolError, RequestId,
        Revision, write_response,
    },
};

/// How long a client should wait when there is no room.
const RETRY: Duration = Duration::from_secs(1);
/// What a client is told that comes too late.
pub(super) const SHUTTING_DOWN: &str = "the server is shutting down";

/// A request that was admitted.
pub(super) struct Admitted<'b> {
    pub(super) id: RequestId,
    pub(super) envelope: &'b Envelope<'b>,
    pub(super) meta: &'b Meta<'b>,
    pub(super) revision: Revision,
    pub(super) caller: Caller,
    pub(super) arrived: Instant,
}

/// What moves from the transport's request into the invocation.
pub(super) struct Carried {
    pub(super) token: CancellationToken,
    pub(super) framing: Framing,
    /// Whether headers mirror the body.
    pub(super) mirrored: bool,
    pub(super) headers: HeaderMap,
    pub(super) extensions: Extensions,
}

impl Engine {
    /// Answers one message.
    ///
    /// Dropping the future cancels the request: a running handler is signalled at once, and ends on its own.
    pub(crate) async fn handle(&self, incoming: Incoming<'_>) -> Reply {
        match Envelope::parse(incoming.body) {
            Ok(envelope) => self.handle_parsed(&envelope, incoming).await,
            Err(error) => Reply::Answer(malformed(error)),
        }
    }

    /// Answers one message that its transport has parsed already.
    pub(crate) async fn handle_parsed(&self, envelope: &Envelope<'_>, incoming: Incoming<'_>) -> Reply {
        let Incoming { arrived, token, channel, .. } = incoming;
        let (framing, mirrored) = (channel.framing(), matches!(channel, Channel::Http { .. }));
        let (headers, extensions) = channel.into_parts();
        let carried = Carried { token, framing, mirrored, headers, extensions };
        let span = self.span(envelope);
        // Pinned where it is made: it is large, and moving it would cost more than anything it does for a plain call.
        let mut answered = pin!(self.answered(envelope, carried, arrived));
        let reply = poll_fn(|cx| {
            let _entered = span.enter();
            poll_caught(answered.as_mut(), cx)
        });
        let reply = reply.await.unwrap_or_else(|Panic(message)| {
            let (method, target) = (&*envelope.method, named(envelope));
            tracing::error!(method, target, panic = message, "a request panicked before its handler ran");
            Err(ProtocolError::new(Condition::Internal, "internal error").into())
        });
        reply.unwrap_or_else(|error| Reply::Answer(error.answer(envelope.id.as_ref())))
    }

    async fn answered(
        &self,
        envelope: &Envelope<'_>,
        carried: Carried,
        arrived: Instant,
    ) -> Result<Reply, Refused> {
        match &envelope.id {
            None => self.notification(envelope, &carried, arrived).await,
            Some(id) => self.request(id.clone(), envelope, carried, arrived).await,
        }
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

    /// A notification is admitted and limited like a request; none of them has a further effect over HTTP.
    async fn notification(
        &self,
        envelope: &Envelope<'_>,
        carried: &Carried,
        arrived: Instant,
    ) -> Result<Reply, Refused> {
        self.check_running()?;
        self.admit(envelope, carried, Revision::LATEST, arrived).await?;
        Ok(Reply::Accepted)
    }

    async fn request(
        &self,
        id: RequestId,
        envelope: &Envelope<'_>,
        carried: Carried,
        arrived: Instant,
    ) -> Result<Reply, Refused> {
        self.check_era(envelope, &carried)?;
        if carried.mirrored {
            let faults = headers::standard_faults(&carried.headers, envelope);
            if !faults.is_empty() {
                return Err(mismatch(faults).into());
            }
        }
        let revision = self.revision(envelope, &carried)?;
        let faults = envelope.params.meta_faults();
        let (true, Some(meta)) = (faults.is_empty(), envelope.params.meta.value()) else {
            return Err(ProtocolError::new(Condition::InvalidMeta, "invalid `_meta`")
                .with_faults(faults)
                .into());
        };
        self.check_running()?;
        let caller = self.admit(envelope, &carried, revision, arrived).await?;
        // Admission may have taken its time.
        self.check_running()?;
        let request = Admitted { id, envelope, meta, revision, caller, arrived };
        if envelope.method == "subscriptions/listen" && !self.catalog.changes.is_empty() {
            return Box::pin(self.listen(request, carried)).await;
        }
        let target = Target::find(&self.catalog, envelope)?;
        match self.start(request, target, carried)? {
            Started::Answered(reply) => Ok(reply),
            Started::Handler(prepared) => self.run(prepared, envelope).await,
        }
    }

    /// Answers at once, or gets a handler ready.
    fn start(
        &self,
        request: Admitted<'_>,
        target: Target<'_, '_>,
        carried: Carried,
    ) -> Result<Started, Refused> {
        let done = |id: &RequestId, result: &[u8]| {
            let mut message = Vec::with_capacity(result.len() + 64);
            write_response(id, &mut message, |out| out.extend_from_slice(result));
            Started::Answered(Reply::Answer(Answer::ok(message)))
        };
        match target {
            Target::Discover => Ok(done(&request.id, &self.catalog.discover)),
            Target::List(pages, cursor) => Ok(done(&request.id, pages.page(cursor).map_err(bad_cursor)?)),
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
                let kind = Kind::Resource {
                    uri: uri.into(),
                    cache: found.resource.entry.cache,
                    mime_type: found.resource.mime_type.clone(),
                };
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
                let kind = Kind::Page { cache: list.cache };
                self.prepare(request, list, kind, ArgumentReader::text(&values, None), carried)
            }
            Target::Completion(None, _) => {
                let mut message = Vec::new();
                let nothing = crate::protocol::Completion::default();
                write_response(&request.id, &mut message, |out| {
                    nothing.write_result(&self.catalog.server_info, out)
                });
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

    fn check_running(&self) -> Result<(), ProtocolError> {
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
        arrived: Instant,
    ) -> Result<Caller, Refused> {
        let (limit, admission) = (&self.shared.request_limit, &self.shared.admission);
        if limit.is_none() && !matches!(admission, AdmissionChoice::Custom(_)) {
            return Ok(Caller::anonymous());
        }
        let admitted = async {
            let caller = self.caller(envelope, carried, revision).await?;
            self.limit(limit.as_deref(), &caller, envelope, None).await?;
            Ok(caller)
        };
        let admitted = Box::pin(timeout_at(arrived + self.shared.limits.request_timeout, admitted));
        admitted.await.unwrap_or_else(|_| Err(late().into()))
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
        envelope: &Envelope<'_>,
        tool: Option<&str>,
    ) -> Result<(), ProtocolError> {
        let Some(limit) = limit else { return Ok(()) };
        let request = RateLimited { caller, endpoint: &self.catalog.info, method: &envelope.method, tool };
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
    fn answer(self, id: Option<&RequestId>) -> Answer {
        Answer { challenge: self.challenge, ..Answer::error(&self.error, id) }
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
                faults.push(Fault::new(name, format!("expected a string, found {}", JsonType::of(raw))));
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
