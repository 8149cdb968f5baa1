//! The start of a handler: its arguments, the client's capabilities, a place, a deadline.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};

use super::{
    Answer, Engine, Reply,
    answer::{Answerer, Kind, bad_arguments},
    call::{Call, Outcome},
    gate::{Place, Refusal},
    headers,
    lifecycle::Phase,
    request::{Admitted, Carried, Refused, SHUTTING_DOWN, late, mismatch, overloaded},
};
use crate::{
    handler::{
        ArgumentReader, CancellationToken, HandlerFuture, Invocation, InvocationParts, Outbox,
        Target as Addressed, WorkGuard,
    },
    protocol::{Arguments, ClientCapabilities, Condition, Envelope, Fault, ProtocolError, write_response},
    registry::{
        Capabilities,
        catalog::{Entry, ToolEntry},
    },
};

/// What the metadata of most requests fits into.
const META_BYTES: usize = 256;

/// What a request came to before anything was waited for.
pub(super) enum Started {
    /// It is answered.
    Answered(Reply),
    /// A handler is ready to run.
    Handler(Prepared),
}

/// A handler that has its arguments, and no place yet.
pub(super) struct Prepared {
    handler: HandlerFuture,
    invocation: Invocation,
    signals: (CancellationToken, Option<Arc<Outbox>>),
    deadline: Instant,
    answerer: Answerer,
    /// The tool's name, if it is one.
    tool: Option<Arc<str>>,
}

impl Engine {
    pub(super) fn start_tool(
        &self,
        request: Admitted<'_>,
        tool: &Arc<ToolEntry>,
        arguments: Option<&Arguments<'_>>,
        carried: Carried,
    ) -> Result<Started, Refused> {
        if carried.mirrored {
            let faults = headers::argument_faults(&carried.headers, &tool.headers, arguments);
            if !faults.is_empty() {
                return Err(mismatch(faults).into());
            }
        }
        let reader = ArgumentReader::json(arguments, tool.known.as_deref());
        self.prepare(request, &tool.entry, Kind::Tool(Arc::clone(tool)), reader, carried)
    }

    /// A tool's refusal is a result that its caller's model can read.
    fn refuse_arguments(&self, request: &Admitted<'_>, entry: &Entry, faults: &[Fault]) -> Started {
        let result = bad_arguments(&entry.name, faults);
        let mut message = Vec::new();
        write_response(&request.id, &mut message, |out| result.write_result(&self.catalog.server_info, out));
        Started::Answered(Reply::Answer(Answer::ok(message)))
    }

    /// Reads the arguments, and checks all that can be checked without waiting.
    pub(super) fn prepare(
        &self,
        request: Admitted<'_>,
        entry: &Entry,
        kind: Kind,
        mut reader: ArgumentReader<'_>,
        carried: Carried,
    ) -> Result<Started, Refused> {
        let shared = &self.shared;
        let deadline = request.arrived + entry.timeout.unwrap_or(shared.limits.request_timeout);
        let (token, outbox) =
            (carried.token.clone(), outbox(&request, &carried, shared.limits.progress_queue));
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
        // What the types say was read; the schema may say more.
        let violations = violations(&kind, request.envelope);
        if !violations.is_empty() {
            return Ok(self.refuse_arguments(&request, entry, &violations));
        }
        check_capabilities(entry.requires, &invocation)?;
        let tool = matches!(kind, Kind::Tool(_)).then(|| Arc::clone(&entry.name));
        let answerer = Answerer {
            id: request.id,
            catalog: Arc::clone(&self.catalog),
            kind,
            handler: Arc::clone(&entry.place),
        };
        let signals = (token, outbox);
        Ok(Started::Handler(Prepared { handler, invocation, signals, deadline, answerer, tool }))
    }

    /// Waits for a place among the running handlers, and runs one.
    pub(super) async fn run(&self, prepared: Prepared, envelope: &Envelope<'_>) -> Result<Reply, Refused> {
        let shared = &self.shared;
        // Most find a place at once: the rest is kept out of their way, in a box.
        let Prepared { handler, invocation, signals, deadline, answerer, tool } = prepared;
        let tool = tool.filter(|_| shared.tool_limit.is_some());
        let place = match tool.is_none().then(|| shared.gate.try_enter()).flatten() {
            Some(place) => place,
            None => Box::pin(self.wait_for_place(tool.as_deref(), &invocation, envelope, deadline)).await?,
        };
        // Asked with the place in hand: from here on shutdown waits for it, and has not ended before.
        if shared.lifecycle.phase() >= Phase::Cancelling {
            return Err(overloaded(SHUTTING_DOWN).into());
        }
        let guard: WorkGuard = Arc::new(place);
        invocation.set_work(&guard);
        drop(invocation);
        let call = Call::new(handler, signals, deadline, answerer, Arc::clone(shared), guard);
        Ok(match call.run().await {
            Outcome::Answer(answer) => Reply::Answer(answer),
            Outcome::Stream(stream) => Reply::Stream(stream),
        })
    }

    /// A place among the running handlers, before the deadline.
    async fn wait_for_place(
        &self,
        limited: Option<&str>,
        invocation: &Invocation,
        envelope: &Envelope<'_>,
        deadline: Instant,
    ) -> Result<Place, Refused> {
        let shared = &self.shared;
        let admitted = async {
            if limited.is_some() {
                let context = invocation.context();
                self.limit(shared.tool_limit.as_deref(), context.caller(), envelope, limited).await?;
            }
            match shared.gate.enter(shared.lifecycle.reached(Phase::Cancelling)).await {
                Ok(place) => Ok(place),
                Err(Refusal::Full) => Err(overloaded("too many requests at once").into()),
                Err(Refusal::Closed) => {
                    shared.lifecycle.count_cancelled();
                    Err(overloaded(SHUTTING_DOWN).into())
                }
            }
        };
        timeout_at(deadline, admitted).await.unwrap_or_else(|_| Err(late().into()))
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
        let mut meta = Vec::with_capacity(META_BYTES);
        request.meta.entries().write_json(&mut meta);
        let target = match kind {
            Kind::Resource { uri, mime_type, .. } => {
                Addressed::Resource { uri: uri.clone(), mime_type: mime_type.clone() }
            }
            _ => Addressed::Operation(Arc::clone(&entry.name)),
        };
        Invocation::new(InvocationParts {
            request_id: request.id.clone(),
            revision: request.revision,
            meta: String::from_utf8(meta).unwrap_or_default(),
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
}

/// Where progress and logs go, if the request asks for any.
fn outbox(request: &Admitted<'_>, carried: &Carried, capacity: usize) -> Option<Arc<Outbox>> {
    let wanted = request.meta.progress_token.value().is_some() || request.meta.log_level.value().is_some();
    wanted.then(|| Arc::new(Outbox::new(carried.framing, capacity)))
}

/// What of a tool's schema its arguments violate, beyond what their types check.
fn violations(kind: &Kind, envelope: &Envelope<'_>) -> Vec<Fault> {
    let Kind::Tool(tool) = kind else { return Vec::new() };
    let Some(validator) = &tool.input else { return Vec::new() };
    validator.faults(&value(envelope.params.arguments.value(), &tool.optional))
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
        ("elicitation", required.elicitation, declared.elicitation_form() || declared.elicitation_url()),
        ("roots", required.roots, declared.roots()),
    ];
    let missing = checks.into_iter().filter(|(_, required, declared)| *required && !declared);
    missing.map(|(name, ..)| (name.to_owned(), Value::Object(Map::new()))).collect()
}

/// All arguments as one value for a validator: null for what may be absent counts as absent.
fn value(arguments: Option<&Arguments<'_>>, optional: &[String]) -> Value {
    let entries = arguments.into_iter().flat_map(Arguments::iter);
    let present =
        entries.filter(|(name, raw)| raw.get() != "null" || optional.iter().all(|optional| optional != name));
    let parsed =
        present.map(|(name, raw)| (name.to_owned(), serde_json::from_str(raw.get()).unwrap_or_default()));
    Value::Object(parsed.collect())
}
