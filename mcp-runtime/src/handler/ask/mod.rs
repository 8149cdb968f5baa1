//! Asking the client: its user, its model, its roots.

mod channel;
mod field;
mod form;
mod format;
mod pass;
mod state;
#[cfg(test)]
mod tests;

use std::{fmt, future::pending, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};

use self::pass::{Begun, Needed};
pub(crate) use self::{
    channel::{ClientAnswer, ClientChannel, Reachable},
    pass::{Asking, Mode, NextState, Suspension},
};
pub use self::{
    form::{ElicitationForm, Form, FormError},
    state::RequestState,
};
use super::Invocation;
use crate::protocol::{
    Capabilities, Condition, ElicitAction, ElicitResult, InputRequest, ProtocolError, Root, RootsResult,
    Sampled, Sampling, excerpt, is_absolute_uri,
};

/// How often a client that is asked at once may give an answer that does not fit.
const MOST_ATTEMPTS: u32 = 8;

/// Asks the client, in the middle of an `async` handler of a tool, resource or prompt.
///
/// ```
/// use mcp_runtime::prelude::*;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema, ElicitationForm)]
/// struct Confirmation {
///     /// Book it?
///     yes: bool,
/// }
///
/// /// Books a table.
/// #[mcp_tool(asks(elicitation))]
/// async fn book(table: u32, ask: Ask) -> Result<String, ToolError> {
///     match ask.elicit("confirm", format!("Book table {table}?")).await {
///         Elicited::Accepted(Confirmation { yes: true }) => Ok(format!("Table {table} is yours.")),
///         _ => Ok("Nothing was booked.".to_owned()),
///     }
/// }
/// ```
///
/// # What really happens
///
/// In revision 2026-07-28 a server can't ask while it answers a request: it answers that it needs input, and the client
/// makes the request again with the answers. So an ask without an answer never returns. The handler is dropped there, and
/// the client is told what is asked. When it comes back **the handler runs again from the start**, and an ask that has
/// its answer returns at once. Of this follows:
///
/// - **Whatever stands before an ask runs again in each round,** and reports its progress again. Look things up there;
///   change things only after the last ask. What must not be worked out twice goes into [`keep`](Self::keep).
/// - **What stands after the last ask may run again, too,** if the client sends its last request twice. Where that matters,
///   keep an id made in the first round, and have the change happen once for it; or let the server take each state once,
///   with [`single_use_request_states`](crate::server::ServerBuilder::single_use_request_states).
/// - **Ask the same question again.** An answer belongs to its key and to the question as it was asked; if the message has
///   changed, a price in it perhaps, it is asked again. A message with the time of day in it would be asked for ever: after
///   [`max_input_rounds`](crate::Limits::max_input_rounds) the request fails.
/// - **Asks that don't depend on each other are made together,** with `tokio::join!`: one round for all of them.
///
/// Nothing can catch an ask that has no answer: it is no error. It is no cancellation either; the token stays silent.
///
/// Everything between two rounds is in a sealed state that the client holds; the server keeps nothing. A task that the
/// handler spawns may ask, too, if it ends with the handler, as those of a `JoinSet` do.
///
/// What the client must be able to do is named with `requires(…)`, if the operation is useless without it, or with
/// `asks(…)`, if it may come to it. An ask of a client that can't answer ends the request with -32021 (HTTP 400). While an
/// operation that `asks(…)` runs for a client that lacks it, its response has no progress and no log messages, so that this
/// error can still be sent; of what is not named it comes at the end of the stream, if that has begun.
///
/// # Older clients
///
/// In the revisions of 2025 a client is asked while the handler waits, and nothing runs twice: the same handler serves both.
/// So far only [`testing::Client`](crate::testing::Client) is asked in that way. Over HTTP and stdio such a client can't be
/// asked yet: the request ends with an error that says so.
#[derive(Clone)]
pub struct Ask {
    invocation: Invocation,
    asking: Arc<Asking>,
}

/// What a person did with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the person may have said no"]
pub enum Elicited<T> {
    /// They answered.
    Accepted(T),
    /// They said no.
    Declined,
    /// They closed it without a choice: asking later may be welcome.
    Cancelled,
}

impl<T> Elicited<T> {
    /// The answer, if there is one: `ask.elicit(…).await.accepted().ok_or("they said no")?` ends a handler without one.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(answer) => Some(answer),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

impl Ask {
    pub(super) fn new(invocation: Invocation, asking: Arc<Asking>) -> Self {
        Self { invocation, asking }
    }

    /// Has the person fill in the form of `T`. `key` tells this question from the others of the handler.
    pub async fn elicit<T: ElicitationForm>(&self, key: &str, message: impl Into<String>) -> Elicited<T> {
        let form = match form::of::<T>() {
            Ok(form) => form,
            // Of a derived form, `build()` has told.
            Err(error) => {
                return self.break_off(format!("`{}` is no form: {error}", std::any::type_name::<T>())).await;
            }
        };
        let request = InputRequest::form(&message.into(), form.schema());
        let needs = Capabilities { elicitation: true, ..Capabilities::NONE };
        let read = |answer: &RawValue| {
            elicited(answer, |content| {
                let content =
                    form.check(content?).map_err(|why| tracing::debug!(key, why, "an answer does not fit"));
                serde_json::from_value(Value::Object(content.ok()?)).ok()
            })
        };
        self.ask(key, &request, needs, read).await
    }

    /// Has the person say yes or no. `Accepted` is yes.
    pub async fn confirm(&self, key: &str, message: impl Into<String>) -> Elicited<()> {
        let request = InputRequest::form(&message.into(), &json!({ "type": "object", "properties": {} }));
        let needs = Capabilities { elicitation: true, ..Capabilities::NONE };
        self.ask(key, &request, needs, |answer| elicited(answer, |_| Some(()))).await
    }

    /// Has the person fill in a form that is only known at run time.
    pub async fn elicit_form(
        &self,
        key: &str,
        message: impl Into<String>,
        form: &Form,
    ) -> Elicited<Map<String, Value>> {
        let request = InputRequest::form(&message.into(), form.schema());
        let needs = Capabilities { elicitation: true, ..Capabilities::NONE };
        self.ask(key, &request, needs, |answer| elicited(answer, |content| form.check(content?).ok())).await
    }

    /// Sends the person to a URL: the way for what must not pass through the client, such as a password.
    ///
    /// `Accepted` means that they agreed to go there, not that they are done. If they are not, `discard` the answer and
    /// ask again: the client comes back when the person says so. The URL says nothing of the person, and lets nobody in
    /// who holds it; who opens it has to be checked there (specification: `client/elicitation`, safe URL handling).
    pub async fn elicit_url(
        &self,
        key: &str,
        message: impl Into<String>,
        url: impl AsRef<str>,
    ) -> Elicited<()> {
        let url = url.as_ref();
        if !is_absolute_uri(url) {
            return self.break_off(format!("`elicit_url` needs an absolute URL: {url:?}")).await;
        }
        let request = InputRequest::url(&message.into(), url);
        let needs = Capabilities { elicitation_url: true, ..Capabilities::NONE };
        self.ask(key, &request, needs, |answer| elicited(answer, |_| Some(()))).await
    }

    /// Asks the client's model. (Deprecated by the specification since 2026-07-28, and part of it still.)
    pub async fn sample(&self, key: &str, sampling: Sampling) -> Sampled {
        let request = match InputRequest::sampling(&sampling) {
            Ok(request) => request,
            Err(error) => return self.break_off(format!("what is sampled can't be JSON: {error}")).await,
        };
        let needs =
            Capabilities { sampling: true, sampling_tools: sampling.uses_tools(), ..Capabilities::NONE };
        self.ask(key, &request, needs, |answer| serde_json::from_str(answer.get()).ok()).await
    }

    /// Asks for the client's roots. (Deprecated by the specification since 2026-07-28, and part of it still.)
    pub async fn roots(&self, key: &str) -> Vec<Root> {
        let needs = Capabilities { roots: true, ..Capabilities::NONE };
        let read = |answer: &RawValue| serde_json::from_str::<RootsResult>(answer.get()).ok();
        self.ask(key, &InputRequest::roots(), needs, read).await.roots
    }

    /// Keeps a value for the next round, in place of the one kept before: there is one. It travels sealed; the client can
    /// neither read nor change it.
    ///
    /// # Errors
    /// If the value can't be JSON.
    pub fn keep(&self, value: &impl Serialize) -> serde_json::Result<()> {
        self.asking.keep(to_raw_value(value)?);
        Ok(())
    }

    /// What was kept, in this round or an earlier one. A value that is no `T`, from before an update of the server
    /// perhaps, counts as none.
    #[must_use]
    pub fn kept<T: DeserializeOwned>(&self) -> Option<T> {
        let kept = self.asking.kept()?;
        match serde_json::from_str(kept.get()) {
            Ok(value) => Some(value),
            Err(error) => {
                tracing::warn!(%error, wanted = std::any::type_name::<T>(), "what was kept is something else");
                None
            }
        }
    }

    /// Forgets the answer to a key, so that it can be asked again, in the next round. A handler that begins anew with each
    /// round counts by [`round`](Self::round) how often it has asked, not by a loop of its own.
    pub fn discard(&self, key: &str) {
        self.asking.discard(key);
    }

    /// How often the client has come back: 0 the first time. Beside [`RequestState`], which counts nothing, 1 ever after.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.asking.round()
    }

    /// One ask. Without an answer it never returns: whoever runs the handler drops it.
    async fn ask<A>(
        &self,
        key: &str,
        request: &InputRequest,
        needs: Capabilities,
        read: impl Fn(&RawValue) -> Option<A>,
    ) -> A {
        let needs = Needed { all: needs, missing: needs.missing(self.invocation.client_capabilities()) };
        let mut begun = self.asking.begin(key, request, needs);
        for _ in 0..MOST_ATTEMPTS {
            match begun {
                Begun::Answer(answer) => {
                    if let Some(answer) = read(&answer) {
                        return answer;
                    }
                }
                Begun::Ask(Reachable(client)) => match client.request(key, request).await {
                    Ok(answer) => {
                        if let Some(answer) = read(&answer) {
                            return answer;
                        }
                    }
                    Err(error) => {
                        self.asking.refused(error);
                        return pending().await;
                    }
                },
                Begun::Suspended => return pending().await,
            }
            begun = self.asking.again(key, request, needs);
        }
        let message = format!("no answer to `{}` fits", excerpt(key));
        self.asking.refused(ProtocolError::new(Condition::NotFound, message));
        pending().await
    }

    async fn break_off<A>(&self, why: String) -> A {
        self.asking.broken(why);
        pending().await
    }
}

/// Reads the answer to an elicitation; `accept` reads what was filled in.
fn elicited<T>(
    answer: &RawValue,
    accept: impl FnOnce(Option<Map<String, Value>>) -> Option<T>,
) -> Option<Elicited<T>> {
    let ElicitResult { action, content } = serde_json::from_str(answer.get()).ok()?;
    match action {
        ElicitAction::Accept => accept(content).map(Elicited::Accepted),
        ElicitAction::Decline => Some(Elicited::Declined),
        ElicitAction::Cancel => Some(Elicited::Cancelled),
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("round", &self.round()).finish_non_exhaustive()
    }
}
