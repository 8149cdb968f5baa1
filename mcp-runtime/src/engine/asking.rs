//! Handlers that ask their client: what a request brings them, and what it is answered when they must wait.

use std::{collections::BTreeMap, future::poll_fn, pin::pin, sync::Arc};

use serde_json::value::RawValue;
use tokio::time::{Instant, sleep_until};

use super::{
    Answer, Engine, Shared,
    answer::Answerer,
    lifecycle::Phase,
    panic::{Panic, poll_caught},
    request::{Admitted, Carried, SHUTTING_DOWN, overloaded},
    target::bad_params,
};
use crate::{
    handler::{Asking, Mode, NextState, Reachable, Suspension},
    protocol::{
        Capabilities, ClientCapabilities, Condition, InputRequest, ProtocolError, RequestId, Revision,
        write_input_required, write_response,
    },
    registry::{asking::Asks, catalog::Entry},
    request_state::{OpenFailure, Round, SealFailure, StateContext, StateId},
};

/// The rounds that a request is one of.
pub(super) struct Rounds {
    pub(super) asking: Arc<Asking>,
    context: StateContext,
    /// The round before this one, if its state came back.
    previous: Option<(StateId, Round)>,
    /// Whether the client has come back with anything.
    pub(super) retried: bool,
}

/// What a client sends when it comes back.
pub(super) struct Return {
    state: String,
    answers: BTreeMap<String, Box<RawValue>>,
}

/// A client whose state is not taken learns nothing of the reason.
fn bad_state() -> ProtocolError {
    ProtocolError::new(Condition::NotFound, "the request state is not valid here: begin again without it")
}

impl Engine {
    /// The rounds of a handler that asks, and what the client has come back with.
    pub(super) fn rounds(
        &self,
        request: &Admitted<'_>,
        carried: &Carried,
        entry: &Entry,
        method: &'static str,
    ) -> Result<Option<(Rounds, Option<Return>)>, ProtocolError> {
        if entry.asking == Asks::Never {
            return Ok(None);
        }
        let params = &request.envelope.params;
        let context = StateContext::new(
            Arc::clone(&self.catalog.info),
            request.revision,
            method,
            request.caller.clone(),
            params,
        );
        let rounds = |asking, retried| Rounds { asking: Arc::new(asking), context, previous: None, retried };
        if !request.revision.is_modern() {
            // These have no rounds: their clients are asked while the handler waits, if they can be reached.
            let mode = carried
                .extensions
                .get::<Reachable>()
                .map_or(Mode::Never, |client| Mode::Live(client.clone()));
            return Ok(Some((rounds(Asking::new(mode), false), None)));
        }
        let state = params.request_state().optional("/params/requestState", "a string");
        let answers = params.input_responses().optional("/params/inputResponses", "an object");
        let (state, answers) = match (state, answers) {
            (Ok(state), Ok(answers)) => (state, answers),
            (state, answers) => {
                return Err(bad_params([state.err(), answers.err()].into_iter().flatten().collect()));
            }
        };
        // The envelope was parsed, so this is an object.
        let answers: BTreeMap<_, _> =
            answers.and_then(|answers| serde_json::from_str(answers.get()).ok()).unwrap_or_default();
        if entry.asking == Asks::OwnState {
            if state.is_some_and(|state| state.len() > self.shared.limits.max_request_state_bytes) {
                return Err(bad_state());
            }
            let retried = state.is_some() || !answers.is_empty();
            let asking = Asking::new(Mode::OwnState(state.map(|state| (**state).into())));
            if retried {
                asking.resume_own(answers);
            }
            return Ok(Some((rounds(asking, retried), None)));
        }
        // Without the state nothing was asked: answers count for nothing.
        let returned = state.map(|state| Return { state: (**state).to_owned(), answers });
        Ok(Some((rounds(Asking::new(Mode::Rounds), false), returned)))
    }
}

impl Rounds {
    /// Takes up what the client has come back with.
    pub(super) async fn resume(
        &mut self,
        shared: &Shared,
        request: &RequestId,
        Return { state, answers }: Return,
        deadline: Instant,
    ) -> Result<(), ProtocolError> {
        let opening = shared.states.open(&self.context, request, &state);
        match protected(shared, deadline, opening).await? {
            Ok(opened) if self.asking.resume(opened.round.number(), &opened.payload, answers) => {
                self.previous = Some((opened.id, opened.round));
                self.retried = true;
                Ok(())
            }
            Ok(_) => Err(bad_state()),
            Err(failure) => Err(unopened(&failure)),
        }
    }

    /// Uses up the state that came back, where each may be used once; with a place in hand.
    pub(super) async fn consume(&self, shared: &Shared, deadline: Instant) -> Result<(), ProtocolError> {
        let Some((id, round)) = self.previous else { return Ok(()) };
        let consumed = protected(shared, deadline, shared.states.consume(id, round)).await?;
        consumed.map_err(|failure| unopened(&failure))
    }

    /// The answer to a request whose handler can't go on.
    pub(super) async fn answer(self, shared: &Shared, answerer: &Answerer, deadline: Instant) -> Answer {
        let (requests, state) = match self.asking.suspension() {
            Suspension::Asks { requests, state } => (requests, state),
            Suspension::Missing(missing) => return answerer.refuse(missing_capabilities(missing)),
            Suspension::Unreachable(needed) => {
                let (revision, names) = (answerer.wire.revision(), names(needed));
                let message = format!("clients of {revision} can't be asked here, and it takes: {names}");
                return answerer.refuse(ProtocolError::new(Condition::InternalOk, message));
            }
            Suspension::Refused(error) => return answerer.refuse(error),
            Suspension::Broken(why) => {
                tracing::error!(handler = %answerer.handler, why, "a handler asked in a way that can't be served");
                return answerer.internal();
            }
        };
        let sealed = match state {
            NextState::Own(state) => {
                let most = shared.limits.max_request_state_bytes;
                match state {
                    Some(state) if state.len() > most => {
                        Err(SealFailure::TooLarge { bytes: state.len(), most })
                    }
                    state => Ok(state),
                }
            }
            NextState::Sealed(payload) => {
                let previous = self.previous.map(|(_, round)| round);
                let sealing = shared.states.seal(&self.context, &answerer.id, previous, &payload);
                match protected(shared, deadline, sealing).await {
                    Ok(sealed) => sealed.map(Some),
                    Err(error) => return answerer.refuse(error),
                }
            }
        };
        match sealed {
            Ok(state) => input_required(answerer, &requests, state.as_deref()),
            Err(failure) => answerer.refuse(unsealed(answerer, &failure, self.retried)),
        }
    }
}

/// Waits for the protector, which may be the application's own: no longer than the request and the server last.
async fn protected<T>(
    shared: &Shared,
    deadline: Instant,
    step: impl Future<Output = T>,
) -> Result<T, ProtocolError> {
    let mut step = pin!(step);
    tokio::select! {
        biased;
        done = poll_fn(|cx| poll_caught(step.as_mut(), cx)) => done.map_err(|Panic(message)| {
            tracing::error!(panic = message, "the protector of request states panicked");
            ProtocolError::new(Condition::Internal, "internal error")
        }),
        () = sleep_until(deadline) => {
            Err(overloaded("the deadline passed before the request state was sealed or opened"))
        }
        () = shared.lifecycle.reached(Phase::Cancelling) => {
            shared.lifecycle.count_cancelled();
            Err(overloaded(SHUTTING_DOWN))
        }
    }
}

fn unopened(failure: &OpenFailure) -> ProtocolError {
    match failure {
        OpenFailure::Refused => bad_state(),
        OpenFailure::Unavailable(error) => {
            tracing::error!(%error, "a request state could not be opened");
            overloaded("the request state can't be checked now")
        }
    }
}

fn input_required(answerer: &Answerer, requests: &[(String, InputRequest)], state: Option<&str>) -> Answer {
    let mut message = Vec::with_capacity(512);
    let requests = requests.iter().map(|(key, request)| (key.as_str(), request));
    write_response(&answerer.id, &mut message, |out| {
        write_input_required(requests, state, &answerer.wire, out);
    });
    Answer::ok(message)
}

fn unsealed(answerer: &Answerer, failure: &SealFailure, retried: bool) -> ProtocolError {
    tracing::error!(handler = %answerer.handler, error = %failure, "what a handler asked could not be sent");
    match failure {
        SealFailure::TooManyRounds { .. } => {
            ProtocolError::new(Condition::NotFound, "the request took too many rounds: begin again")
        }
        SealFailure::Unavailable(_) => overloaded("the request state can't be sealed now"),
        // Answers are kept, too, and how long they are is for the client.
        SealFailure::TooLarge { .. } if retried => {
            ProtocolError::new(Condition::NotFound, "the answers are more than can be kept: begin again")
        }
        SealFailure::TooLarge { .. } => ProtocolError::new(Condition::Internal, "internal error"),
    }
}

/// What the client of a request says that it can do.
pub(super) fn declared(request: &Admitted<'_>) -> ClientCapabilities {
    if let Some(client) = &request.client {
        return client.capabilities.clone();
    }
    let raw = request.meta.client_capabilities.value().filter(|_| request.revision.is_modern());
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// The refusal of a request whose client lacks what the operation needs.
pub(super) fn missing_capabilities(missing: Capabilities) -> ProtocolError {
    let message = format!("the client must declare: {}", names(missing));
    ProtocolError::new(Condition::MissingCapability, message)
        .with_data("requiredCapabilities", missing.to_json())
}

/// The same where a client has no way to declare anything.
pub(super) fn unknown_capabilities(revision: Revision, needed: Capabilities) -> ProtocolError {
    let message =
        format!("what clients of {revision} can do is not known here, and it takes: {}", names(needed));
    ProtocolError::new(Condition::MissingCapability, message)
        .with_data("requiredCapabilities", needed.to_json())
}

fn names(capabilities: Capabilities) -> String {
    capabilities.to_json().keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}
