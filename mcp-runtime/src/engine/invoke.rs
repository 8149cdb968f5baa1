//! The start of a handler: its arguments, the client's capabilities, a place, a deadline.

use std::sync::Arc;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    Answer, Engine, Reply,
    answer::{Answerer, Kind, bad_arguments},
    asking::{Return, Rounds, declared, missing_capabilities, unknown_capabilities},
    call::Call,
    gate::{Place, Refusal},
    handling::Started,
    headers,
    lifecycle::Phase,
    request::{Admitted, Carried, Refused, SHUTTING_DOWN, late, mismatch, overloaded},
};
use crate::{
    handler::{
        ArgumentReader, Asking, CancellationToken, HandlerFuture, Invocation, InvocationParts, Outbox,
        Target as Addressed, WorkGuard,
    },
    protocol::{Arguments, Capabilities, Condition, Envelope, Fault, ProtocolError, write_response},
    registry::catalog::{Entry, ToolEntry},
};

/// A handler that has its arguments, and no place yet.
struct Prepared {
    handler: HandlerFuture,
    invocation: Invocation,
    signals: (CancellationToken, Option<Arc<Outbox>>),
    deadline: Instant,
    answerer: Answerer,
    requires: Capabilities,
    /// Those that it is one of, if it may ask.
    rounds: Option<Box<Rounds>>,
    /// The tool's name, if it is one.
    tool: Option<Arc<str>>,
}

impl Engine {
    pub(super) fn start_tool(
        &self,
        request: &Admitted<'_>,
        tool: &Arc<ToolEntry>,
        arguments: Option<&Arguments<'_>>,
        carried: Carried,
    ) -> Result<Started<'_>, Refused> {
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
    fn refuse_arguments(
        &self,
        request: &Admitted<'_>,
        entry: &Entry,
        faults: Vec<Fault>,
    ) -> Result<Started<'static>, Refused> {
        if !request.revision.tells_models_of_bad_arguments() {
            let error = ProtocolError::new(Condition::NotFound, "invalid arguments");
            return Err(error.with_faults(faults).into());
        }
        let result = bad_arguments(&entry.name, &faults);
        let wire = self.catalog.wire(request.revision);
        let mut message = Vec::new();
        write_response(request.id, &mut message, |out| result.write_result(wire, out));
        Ok(Started::Answered(Reply::Answer(Answer::ok(message))))
    }

    /// Reads the arguments, and checks all that can be checked without waiting.
    pub(super) fn prepare(
        &self,
        request: &Admitted<'_>,
        entry: &Entry,
        kind: Kind,
        mut reader: ArgumentReader<'_>,
        carried: Carried,
    ) -> Result<Started<'_>, Refused> {
        let shared = &self.shared;
        let deadline = carried.arrived + entry.timeout.unwrap_or(shared.limits.request_timeout);
        let (rounds, returned) = self.rounds(request, &carried, entry, kind.method())?.unzip();
        let asking = rounds.as_ref().map(|rounds| Arc::clone(&rounds.asking));
        let (token, outbox) =
            (carried.token.clone(), outbox(request, entry, &carried, shared.limits.progress_queue));
        let speaks = (outbox.clone(), asking);
        let invocation = self.invocation(request, entry, &kind, carried, speaks, deadline);
        let Some(handler) = entry.runner.start(&mut reader, &invocation) else {
            let faults = reader.into_faults();
            return match &kind {
                Kind::Tool(_) => self.refuse_arguments(request, entry, faults),
                Kind::Resource(read) => {
                    Err(super::answer::unknown_resource(&read.uri).with_faults(faults).into())
                }
                _ => Err(ProtocolError::new(Condition::NotFound, "invalid arguments")
                    .with_faults(faults)
                    .into()),
            };
        };
        // What the types say was read; the schema may say more.
        let violations = violations(&kind, request.envelope);
        if !violations.is_empty() {
            return self.refuse_arguments(request, entry, violations);
        }
        let tool = matches!(kind, Kind::Tool(_)).then(|| Arc::clone(&entry.name));
        let answerer = Answerer {
            id: request.id.clone(),
            wire: Arc::clone(self.catalog.wire(request.revision)),
            kind,
            handler: Arc::clone(&entry.place),
        };
        let signals = (token, outbox);
        let (requires, rounds) = (entry.requires, rounds.map(Box::new));
        let prepared = Prepared { handler, invocation, signals, deadline, answerer, requires, rounds, tool };
        match returned.flatten() {
            None => self.place(prepared),
            Some(returned) => Ok(Started::Queued(Box::pin(self.resume(prepared, returned)))),
        }
    }

    /// Takes up what a client has come back with, before its handler has a place.
    async fn resume(&self, mut prepared: Prepared, returned: Return) -> Result<Reply, Refused> {
        if let Some(rounds) = &mut prepared.rounds {
            rounds.resume(&self.shared, &prepared.answerer.id, returned, prepared.deadline).await?;
        }
        check_capabilities(prepared.requires, &prepared.invocation)?;
        let Prepared { invocation, tool, deadline, .. } = &prepared;
        let place = self.wait_for_place(tool.as_deref(), invocation, *deadline).await?;
        if let Some(rounds) = &prepared.rounds {
            rounds.consume(&self.shared, prepared.deadline).await?;
        }
        Ok(self.call(prepared, place)?.await.into())
    }

    /// Gives a handler a place among those that run, or a future that waits for one.
    fn place(&self, prepared: Prepared) -> Result<Started<'_>, Refused> {
        check_capabilities(prepared.requires, &prepared.invocation)?;
        let limited = prepared.tool.is_some() && self.shared.tool_limit.is_some();
        match (!limited).then(|| self.shared.gate.try_enter()).flatten() {
            Some(place) => Ok(Started::Running(self.call(prepared, place)?)),
            None => Ok(Started::Queued(Box::pin(async move {
                let Prepared { invocation, tool, deadline, .. } = &prepared;
                let place = self.wait_for_place(tool.as_deref(), invocation, *deadline).await?;
                Ok(self.call(prepared, place)?.await.into())
            }))),
        }
    }

    /// Starts a handler at its place.
    fn call(&self, prepared: Prepared, place: Place) -> Result<Call, Refused> {
        // Asked with the place in hand: from here on shutdown waits for it, and has not ended before.
        if self.shared.lifecycle.phase() >= Phase::Cancelling {
            return Err(overloaded(SHUTTING_DOWN).into());
        }
        let Prepared { handler, invocation, signals, deadline, answerer, rounds, .. } = prepared;
        let guard: WorkGuard = Arc::new(place);
        invocation.set_work(&guard);
        Ok(Call::new(handler, signals, deadline, answerer, rounds, Arc::clone(&self.shared), guard))
    }

    /// A place among the running handlers, before the deadline.
    async fn wait_for_place(
        &self,
        tool: Option<&str>,
        invocation: &Invocation,
        deadline: Instant,
    ) -> Result<Place, Refused> {
        let shared = &self.shared;
        let admitted = async {
            if tool.is_some() {
                let (limit, context) = (shared.tool_limit.as_deref(), invocation.context());
                self.limit(limit, context.caller(), "tools/call", tool).await?;
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
        (outbox, asking): (Option<Arc<Outbox>>, Option<Arc<Asking>>),
        deadline: Instant,
    ) -> Invocation {
        let target = match kind {
            Kind::Resource(read) => {
                Addressed::Resource { uri: read.uri.clone(), mime_type: read.mime_type.clone() }
            }
            _ => Addressed::Operation(Arc::clone(&entry.name)),
        };
        Invocation::new(InvocationParts {
            request_id: request.id.clone(),
            revision: request.revision,
            client: request.client.clone(),
            meta: request.meta.text().get().into(),
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
            asking,
        })
    }
}

/// Where progress and logs go, if the request asks for any, and its response may be begun before the answer is known.
fn outbox(request: &Admitted<'_>, entry: &Entry, carried: &Carried, capacity: usize) -> Option<Arc<Outbox>> {
    let wanted = request.meta.progress_token.value().is_some() || request.meta.log_level.value().is_some();
    // A client that can't answer what may be asked may have to be told so, by an HTTP status.
    let wanted = wanted && (entry.asks.is_empty() || entry.asks.missing(&declared(request)).is_empty());
    wanted.then(|| Arc::new(Outbox::new(carried.framing, capacity)))
}

/// What of a tool's schema its arguments violate, beyond what their types check.
fn violations(kind: &Kind, envelope: &Envelope<'_>) -> Vec<Fault> {
    let Kind::Tool(tool) = kind else { return Vec::new() };
    let Some(validator) = &tool.input else { return Vec::new() };
    validator.faults(&value(envelope.params.arguments.value(), &tool.optional))
}

fn check_capabilities(required: Capabilities, invocation: &Invocation) -> Result<(), ProtocolError> {
    if required.is_empty() {
        return Ok(());
    }
    let context = invocation.context();
    if !invocation.knows_client() {
        return Err(unknown_capabilities(context.revision(), required));
    }
    let missing = required.missing(context.client_capabilities());
    if missing.is_empty() { Ok(()) } else { Err(missing_capabilities(missing)) }
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
