//! From a message to its reply: the checks in their order, and the start of the handler.

use std::{borrow::Cow, sync::Arc, time::Duration};

use http::{Extensions, HeaderMap};
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument;

use super::{
    AdmissionChoice, Answer, Channel, DynRateLimit, Engine, Incoming, RateLimited, Reply,
    admission::AdmissionRequest,
    answer::{Answerer, Kind, bad_arguments},
    call::{Call, Outcome},
    headers,
    target::{CompletionRequest, Target, bad_cursor, named},
};
use crate::{
    handler::{
        ArgumentReader, Caller, CancellationToken, Framing, HandlerFuture, Invocation, InvocationParts,
        Outbox, Target as Addressed, WorkGuard,
    },
    protocol::{
        Arguments, ClientCapabilities, Condition, Envelope, EnvelopeError, Fault, MCP_PROTOCOL_VERSION, Meta,
        ProtocolError, RequestId, Revision, write_response,
    },
    registry::{
        Capabilities,
        catalog::{Entry, ToolEntry},
    },
};

/// How long a client should wait when there is no room.
const RETRY: Duration = Duration::from_secs(1);

/// A request that was admitted.
struct Admitted<'b> {
    id: RequestId,
    envelope: &'b Envelope<'b>,
    meta: &'b Meta<'b>,
    revision: Revision,
    caller: Caller,
    arrived: Instant,
}

/// What moves from the transport's request into the invocation.
struct Carried {
    token: CancellationToken,
    framing: Framing,
    /// Whether headers mirror the body.
    mirrored: bool,
    headers: HeaderMap,
    extensions: Extensions,
}

impl Engine {
    /// Answers one message.
    ///
    /// Dropping the future cancels the request: a running handler is signalled at once, and ends on its own.
    // Promising `Send` here spares every caller from proving it for all lifetimes.
    pub(crate) fn handle<'a>(&'a self, incoming: Incoming<'a>) -> impl Future<Output = Reply> + Send + 'a {
        async move {
            match Envelope::parse(incoming.body) {
                Ok(envelope) => self.handle_parsed(&envelope, incoming).await,
                Err(error) => Reply::Answer(malformed(error)),
            }
        }
    }

    /// Answers one message that its transport has parsed already.
    pub(crate) fn handle_parsed<'a>(
        &'a self,
        envelope: &'a Envelope<'a>,
        incoming: Incoming<'a>,
    ) -> impl Future<Output = Reply> + Send + 'a {
        async move {
            let Incoming {
                arrived,
                token,
                channel,
                ..
            } = incoming;
            let (framing, mirrored) = (channel.framing(), matches!(channel, Channel::Http { .. }));
            let (headers, extensions) = channel.into_parts();
            let carried = Carried {
                token,
                framing,
                mirrored,
                headers,
                extensions,
            };
            let span = self.span(envelope);
            let answered = self.answered(envelope, carried, arrived);
            let reply = if span.is_disabled() {
                answered.await
            } else {
                answered.instrument(span).await
            };
            reply.unwrap_or_else(|error| Reply::Answer(error.answer(envelope.id.as_ref())))
        }
    }

    async fn answered(
        &self,
        envelope: &Envelope<'_>,
        carried: Carried,
        arrived: Instant,
    ) -> Result<Reply, Refused> {
        match &envelope.id {
            None => self.notification(envelope, &carried).await,
            Some(id) => self.request(id.clone(), envelope, carried, arrived).await,
        }
    }

    /// A span by OpenTelemetry's conventions for MCP.
    fn span(&self, envelope: &Envelope<'_>) -> tracing::Span {
        let target = named(envelope);
        tracing::debug_span!(
            "mcp.request",
            otel.name = target
                .map_or(Cow::Borrowed(&*envelope.method), |target| format!(
                    "{} {target}",
                    envelope.method
                )
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
    async fn notification(&self, envelope: &Envelope<'_>, carried: &Carried) -> Result<Reply, Refused> {
        self.check_running()?;
        let caller = self.admit(envelope, carried, Revision::LATEST).await?;
        self.limit(self.shared.request_limit.as_deref(), &caller, envelope, None)
            .await?;
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
        let first_deadline = arrived + self.shared.limits.request_timeout;
        let caller = timeout_at(first_deadline, async {
            let caller = self.admit(envelope, &carried, revision).await?;
            self.limit(self.shared.request_limit.as_deref(), &caller, envelope, None)
                .await?;
            Ok::<_, Refused>(caller)
        });
        let caller = caller.await.map_err(|_| late())??;
        let target = Target::find(&self.catalog, envelope)?;
        let request = Admitted {
            id,
            envelope,
            meta,
            revision,
            caller,
            arrived,
        };
        self.answer(request, target, carried).await
    }

    async fn answer(
        &self,
        request: Admitted<'_>,
        target: Target<'_, '_>,
        carried: Carried,
    ) -> Result<Reply, Refused> {
        let done = |id: &RequestId, result: &[u8]| {
            let mut message = Vec::with_capacity(result.len() + 64);
            write_response(id, &mut message, |out| out.extend_from_slice(result));
            Ok(Reply::Answer(Answer::ok(message)))
        };
        match target {
            Target::Discover => done(&request.id, &self.catalog.discover),
            Target::List(pages, cursor) => done(&request.id, pages.page(cursor).map_err(bad_cursor)?),
            Target::Tool(tool, arguments) => self.call_tool(request, tool, arguments, carried).await,
            Target::Prompt(prompt, arguments) => {
                let texts = texts(arguments)?;
                let values: Vec<(&str, &str)> = texts.iter().map(|(name, value)| (*name, &**value)).collect();
                let reader = ArgumentReader::text(&values, Some(&prompt.known));
                self.invoke(request, &prompt.entry, Kind::Prompt, reader, carried)
                    .await
            }
            Target::Resource(found, uri) => {
                let values: Vec<(&str, &str)> = found
                    .variables
                    .iter()
                    .map(|(name, value)| (*name, &**value))
                    .collect();
                let kind = Kind::Resource {
                    uri: uri.into(),
                    cache: found.resource.entry.cache,
                    mime_type: found.resource.mime_type.clone(),
                };
                self.invoke(
                    request,
                    &found.resource.entry,
                    kind,
                    ArgumentReader::text(&values, None),
                    carried,
                )
                .await
            }
            Target::ResourceList(list, cursor) => {
                let values: Vec<(&str, &str)> = cursor.map(|cursor| ("cursor", cursor)).into_iter().collect();
                let kind = Kind::Page { cache: list.cache };
                self.invoke(request, list, kind, ArgumentReader::text(&values, None), carried)
                    .await
            }
            Target::Completion(None, _) => {
                let mut message = Vec::new();
                let nothing = crate::protocol::Completion::default();
                write_response(&request.id, &mut message, |out| {
                    nothing.write_result(&self.catalog.server_info, out)
                });
                Ok(Reply::Answer(Answer::ok(message)))
            }
            Target::Completion(
                Some(entry),
                CompletionRequest {
                    argument,
                    value,
                    chosen,
                },
            ) => {
                let chosen = texts(chosen)?;
                // What is being typed goes by the argument's name, and by `value`.
                let typed = [(argument, value), ("value", value)];
                let mut values = typed.to_vec();
                let others = chosen
                    .iter()
                    .filter(|(name, _)| typed.iter().all(|(taken, _)| taken != name));
                values.extend(others.map(|(name, value)| (*name, &**value)));
                self.invoke(
                    request,
                    entry,
                    Kind::Completion,
                    ArgumentReader::text(&values, None),
                    carried,
                )
                .await
            }
        }
    }

    async fn call_tool(
        &self,
        request: Admitted<'_>,
        tool: &Arc<ToolEntry>,
        arguments: Option<&Arguments<'_>>,
        carried: Carried,
    ) -> Result<Reply, Refused> {
        if carried.mirrored {
            let faults = headers::argument_faults(&carried.headers, &tool.headers, arguments);
            if !faults.is_empty() {
                return Err(mismatch(faults).into());
            }
        }
        if let Some(validator) = &tool.input {
            let faults = validator.faults(&value(arguments, &tool.optional));
            if !faults.is_empty() {
                return Ok(self.refuse_arguments(&request, &tool.entry, &faults));
            }
        }
        let reader = ArgumentReader::json(arguments, tool.known.as_deref());
        self.invoke(
            request,
            &tool.entry,
            Kind::Tool(Arc::clone(tool)),
            reader,
            carried,
        )
        .await
    }

    /// A tool's refusal is a result that its caller's model can read.
    fn refuse_arguments(&self, request: &Admitted<'_>, entry: &Entry, faults: &[Fault]) -> Reply {
        let result = bad_arguments(&entry.name, faults);
        let mut message = Vec::new();
        write_response(&request.id, &mut message, |out| {
            result.write_result(&self.catalog.server_info, out)
        });
        Reply::Answer(Answer::ok(message))
    }

    /// Reads the arguments, waits for a place, and runs the handler.
    async fn invoke(
        &self,
        request: Admitted<'_>,
        entry: &Entry,
        kind: Kind,
        mut reader: ArgumentReader<'_>,
        carried: Carried,
    ) -> Result<Reply, Refused> {
        let shared = &self.shared;
        let deadline = request.arrived + entry.timeout.unwrap_or(shared.limits.request_timeout);
        let is_tool = matches!(kind, Kind::Tool(_));
        let (token, outbox) = (
            carried.token.clone(),
            outbox(&request, &carried, shared.limits.progress_queue),
        );
        let caller = request.caller.clone();
        let invocation = self.invocation(&request, entry, &kind, carried, outbox.clone(), deadline);
        let Some(handler) = entry.runner.start(&mut reader, &invocation) else {
            let faults = reader.into_faults();
            return match &kind {
                Kind::Tool(_) => Ok(self.refuse_arguments(&request, entry, &faults)),
                Kind::Resource { uri, .. } => {
                    Err(super::answer::unknown_resource(uri).with_faults(faults).into())
                }
                _ => Err(ProtocolError::new(Condition::NotFound, "invalid arguments")
                    .with_faults(faults)
                    .into()),
            };
        };
        check_capabilities(entry.requires, &invocation)?;
        let answerer = Answerer {
            id: request.id,
            catalog: Arc::clone(&self.catalog),
            kind,
            handler: Arc::clone(&entry.place),
        };
        let admitted = timeout_at(deadline, async {
            if is_tool {
                self.limit(
                    shared.tool_limit.as_deref(),
                    &caller,
                    request.envelope,
                    Some(&entry.name),
                )
                .await?;
            }
            let full =
                || ProtocolError::new(Condition::Overloaded, "too many requests at once").retry_after(RETRY);
            Ok::<_, Refused>(shared.gate.enter().await.map_err(|_| full())?)
        });
        let place = admitted.await.map_err(|_| late())??;
        Ok(self
            .run(handler, invocation, (token, outbox), deadline, answerer, place)
            .await)
    }

    async fn run(
        &self,
        handler: HandlerFuture,
        invocation: Invocation,
        signals: (CancellationToken, Option<Arc<Outbox>>),
        deadline: Instant,
        answerer: Answerer,
        place: tokio::sync::OwnedSemaphorePermit,
    ) -> Reply {
        let guard = Arc::new(WorkGuard::new(place));
        invocation.set_work(&guard);
        drop(invocation);
        let call = Call::new(
            handler,
            signals,
            deadline,
            answerer,
            Arc::clone(&self.shared),
            guard,
        );
        match call.run().await {
            Outcome::Answer(answer) => Reply::Answer(answer),
            Outcome::Stream(stream) => Reply::Stream(stream),
        }
    }

    fn invocation(
        &self,
        request: &Admitted<'_>,
        entry: &Entry,
        kind: &Kind,
        carried: Carried,
        outbox: Option<Arc<Outbox>>,
        deadline: Instant,
    ) -> Invocation {
        let mut meta = Vec::new();
        request.meta.entries().write_json(&mut meta);
        let target = match kind {
            Kind::Resource { uri, mime_type, .. } => Addressed::Resource {
                uri: uri.clone(),
                mime_type: mime_type.clone(),
            },
            _ => Addressed::Operation(Arc::clone(&entry.name)),
        };
        Invocation::new(InvocationParts {
            request_id: request.id.clone(),
            revision: request.revision,
            meta: String::from_utf8(meta).unwrap_or_default().into(),
            endpoint: Arc::clone(&self.catalog.info),
            target,
            caller: request.caller.clone(),
            headers: carried.headers,
            extensions: carried.extensions,
            state: Arc::clone(&self.shared.state),
            cancellation: carried.token,
            progress_token: outbox.as_ref().and(request.meta.progress_token.value().cloned()),
            log_level: request.meta.log_level.value().copied(),
            outbox,
            deadline: Some(deadline),
            blocking: Arc::clone(&self.shared.blocking),
        })
    }

    fn check_running(&self) -> Result<(), ProtocolError> {
        if self.shared.lifecycle.is_running() {
            return Ok(());
        }
        Err(ProtocolError::new(Condition::Overloaded, "the server is shutting down").retry_after(RETRY))
    }

    /// A request of the era before per-request metadata, which is not served, learns what is.
    fn check_era(&self, envelope: &Envelope<'_>, carried: &Carried) -> Result<(), ProtocolError> {
        if envelope
            .params
            .meta
            .value()
            .is_some_and(|meta| !meta.protocol_version.is_absent())
        {
            return Ok(());
        }
        let header = headers::single(&carried.headers, MCP_PROTOCOL_VERSION)
            .ok()
            .flatten();
        let legacy =
            header.filter(|name| Revision::parse(name).is_some_and(|revision| !revision.is_modern()));
        match legacy {
            Some(name) => Err(self.unsupported(&name)),
            None if envelope.method == "initialize"
                && carried.headers.get(MCP_PROTOCOL_VERSION).is_none() =>
            {
                let proposed = envelope
                    .params
                    .other("protocolVersion")
                    .map(|raw| raw.get().trim_matches('"'));
                Err(self.unsupported(proposed.unwrap_or("none")))
            }
            None => Ok(()),
        }
    }

    /// The revision that a request speaks, by its metadata; by its header where that is missing.
    fn revision(&self, envelope: &Envelope<'_>, carried: &Carried) -> Result<Revision, ProtocolError> {
        let named = envelope
            .params
            .meta
            .value()
            .and_then(|meta| meta.protocol_version.value());
        let header = headers::single(&carried.headers, MCP_PROTOCOL_VERSION)
            .ok()
            .flatten();
        let Some(name) = named.map(|name| &**name).or(header.as_deref()) else {
            // What is missing is a fault of the metadata.
            return Ok(Revision::LATEST);
        };
        let served = Revision::parse(name).filter(|revision| self.catalog.revisions.contains(revision));
        served.ok_or_else(|| self.unsupported(name))
    }

    fn unsupported(&self, requested: &str) -> ProtocolError {
        let supported = self.catalog.revision_names();
        let message = format!(
            "revision `{requested}` is not served here; there is {}",
            supported.join(", ")
        );
        ProtocolError::new(Condition::UnsupportedRevision, message)
            .with_data("supported", supported)
            .with_data("requested", requested)
    }

    async fn admit(
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
        admission.admit(&request).await.map_err(|denied| Refused {
            error: denied.error(),
            challenge: denied.challenge,
        })
    }

    async fn limit(
        &self,
        limit: Option<&dyn DynRateLimit>,
        caller: &Caller,
        envelope: &Envelope<'_>,
        tool: Option<&str>,
    ) -> Result<(), ProtocolError> {
        let Some(limit) = limit else { return Ok(()) };
        let request = RateLimited {
            caller,
            endpoint: &self.catalog.info,
            method: &envelope.method,
            tool,
        };
        let slow_down = |delay| {
            ProtocolError::new(Condition::RateLimited, "too many requests: slow down").retry_after(delay)
        };
        limit.check(&request).await.map_err(slow_down)
    }
}

/// A request that gets an error, with what HTTP adds to it.
struct Refused {
    error: ProtocolError,
    challenge: Option<http::HeaderValue>,
}

impl Refused {
    fn answer(self, id: Option<&RequestId>) -> Answer {
        Answer {
            challenge: self.challenge,
            ..Answer::error(&self.error, id)
        }
    }
}

impl From<ProtocolError> for Refused {
    fn from(error: ProtocolError) -> Self {
        Self {
            error,
            challenge: None,
        }
    }
}

fn malformed(error: EnvelopeError) -> Answer {
    let id = error.id.clone();
    Answer::error(&error.into(), id.as_ref())
}

fn mismatch(faults: Vec<Fault>) -> ProtocolError {
    ProtocolError::new(Condition::HeaderMismatch, "the headers don't match the body").with_faults(faults)
}

fn late() -> ProtocolError {
    ProtocolError::new(Condition::Overloaded, "the deadline passed before there was room").retry_after(RETRY)
}

/// Where progress and logs go, if the request asks for any.
fn outbox(request: &Admitted<'_>, carried: &Carried, capacity: usize) -> Option<Arc<Outbox>> {
    let wanted = request.meta.progress_token.value().is_some() || request.meta.log_level.value().is_some();
    wanted.then(|| Arc::new(Outbox::new(carried.framing, capacity)))
}

fn check_capabilities(required: Capabilities, invocation: &Invocation) -> Result<(), ProtocolError> {
    if required == Capabilities::default() {
        return Ok(());
    }
    let context = invocation.context();
    let missing = missing_capabilities(required, context.client_capabilities());
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.keys().map(String::as_str).collect();
    let message = format!("the client must declare: {}", names.join(", "));
    Err(ProtocolError::new(Condition::MissingCapability, message).with_data("requiredCapabilities", missing))
}

fn missing_capabilities(required: Capabilities, declared: &ClientCapabilities) -> Map<String, Value> {
    let checks = [
        ("sampling", required.sampling, declared.sampling()),
        (
            "elicitation",
            required.elicitation,
            declared.elicitation_form() || declared.elicitation_url(),
        ),
        ("roots", required.roots, declared.roots()),
    ];
    let missing = checks
        .into_iter()
        .filter(|(_, required, declared)| *required && !declared);
    missing
        .map(|(name, ..)| (name.to_owned(), Value::Object(Map::new())))
        .collect()
}

/// Arguments that are strings by definition, of prompts and completions.
fn texts<'a>(arguments: Option<&'a Arguments<'_>>) -> Result<Vec<(&'a str, Cow<'a, str>)>, ProtocolError> {
    let mut texts = Vec::new();
    let mut faults = Vec::new();
    for (name, raw) in arguments.into_iter().flat_map(Arguments::iter) {
        match serde_json::from_str::<Text<'_>>(raw.get()) {
            Ok(Text(text)) => texts.push((name, text)),
            Err(_) => faults.push(Fault::new(
                name,
                format!("expected a string, found {}", raw.get()),
            )),
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

/// All arguments as one value for a validator: null for what may be absent counts as absent.
fn value(arguments: Option<&Arguments<'_>>, optional: &[String]) -> Value {
    let entries = arguments.into_iter().flat_map(Arguments::iter);
    let present =
        entries.filter(|(name, raw)| raw.get() != "null" || optional.iter().all(|optional| optional != name));
    let parsed = present.map(|(name, raw)| {
        (
            name.to_owned(),
            serde_json::from_str(raw.get()).unwrap_or_default(),
        )
    });
    Value::Object(parsed.collect())
}
