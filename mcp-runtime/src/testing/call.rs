//! A request in the making.

use std::{future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{
    answers::{Answers, Given, LiveAnswers, Questions},
    client::{Ids, Profile},
    error::RpcError,
    response::{Answered, CompletionResponse, PromptResponse, Response, ToolResponse},
    running::Running,
};
use crate::{engine::Engine, handler::Reachable, protocol::keys, transport::in_process::Exchange};

/// A request in the making: awaiting it makes the request, and returns a `T`.
///
/// ```no_run
/// # async fn example(client: mcp_runtime::testing::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let response = client.call("search").arg("query", "bolt").arg("limit", 5).await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a call does nothing until it is awaited or started"]
pub struct Call<T> {
    engine: Arc<Engine>,
    profile: Profile,
    ids: Ids,
    id: Value,
    method: String,
    params: Map<String, Value>,
    answers: Answers,
    pub(super) questions: Questions,
    answer: PhantomData<fn() -> T>,
}

/// The setters of what goes with a request, for a [`Call`] and for all calls of a client.
macro_rules! profile_setters {
    ($(#[$attribute:meta])*) => {
        /// Declares what the client can do, such as `json!({ "sampling": {} })`.
        $(#[$attribute])*
        pub fn capabilities(self, capabilities: serde_json::Value) -> Self {
            self.meta(crate::protocol::keys::CLIENT_CAPABILITIES, capabilities)
        }

        /// Sets what the client calls itself.
        $(#[$attribute])*
        pub fn client_info(self, name: &str, version: &str) -> Self {
            let info = serde_json::json!({ "name": name, "version": version });
            self.meta(crate::protocol::keys::CLIENT_INFO, info)
        }

        /// Asks for log messages, of this level and above.
        $(#[$attribute])*
        pub fn log_level(self, level: crate::protocol::LogLevel) -> Self {
            self.meta(crate::protocol::keys::LOG_LEVEL, level.as_str())
        }

        /// Sets a value of `_meta`.
        $(#[$attribute])*
        pub fn meta(mut self, key: &str, value: impl Into<serde_json::Value>) -> Self {
            self.profile.set(key, value.into());
            self
        }

        /// Adds what a layer in front would have put into an HTTP request: handlers take it as `Extension<T>`, and
        /// an admission can read it.
        $(#[$attribute])*
        pub fn extension<E: Clone + Send + Sync + 'static>(mut self, value: E) -> Self {
            self.profile.extensions.insert(value);
            self
        }
    };
}
pub(super) use profile_setters;

impl Call<Response> {
    #[track_caller]
    pub(super) fn new(
        engine: Arc<Engine>,
        profile: Profile,
        ids: Ids,
        method: &str,
        params: &impl Serialize,
    ) -> Self {
        Self {
            engine,
            profile,
            id: ids.next(),
            ids,
            method: method.to_owned(),
            params: object("the parameters", params),
            answers: Answers::default(),
            questions: Questions::default(),
            answer: PhantomData,
        }
    }

    /// The same request with an answer of another type.
    pub(super) fn answered<T>(self) -> Call<T> {
        self.retyped()
    }
}

impl<T: Answered> Call<T> {
    profile_setters!();

    /// Asks for progress, which the response then has.
    pub fn with_progress(self) -> Self {
        let token = self.id.clone();
        self.meta(keys::PROGRESS_TOKEN, token)
    }

    /// Answers what the server asks under a key: with the content of a form, any value for a URL, the words of a model or
    /// its whole result, or a list of roots. Of several answers to one key the first is given first, and the last again
    /// and again.
    ///
    /// A call with answers declares that it can give them, unless the client has declared any capability itself.
    ///
    /// # Panics
    /// If the value can't be JSON.
    #[track_caller]
    pub fn answer(self, key: &str, value: impl Serialize) -> Self {
        let value = json(key, &value);
        self.give(key, Given::Value(value))
    }

    /// Says no to what the server asks its user under a key.
    pub fn decline(self, key: &str) -> Self {
        self.respond(key, json!({ "action": "decline" }))
    }

    /// Closes what the server asks its user under a key, without a choice.
    pub fn dismiss(self, key: &str) -> Self {
        self.respond(key, json!({ "action": "cancel" }))
    }

    /// Answers what the server asks under a key with any result, a wrong one too.
    ///
    /// # Panics
    /// If the result can't be JSON.
    #[track_caller]
    pub fn respond(self, key: &str, result: impl Serialize) -> Self {
        let result = json(key, &result);
        self.give(key, Given::Result(result))
    }

    fn give(mut self, key: &str, given: Given) -> Self {
        self.answers.add(key, given);
        match self.profile.meta.get(keys::CLIENT_CAPABILITIES) {
            Some(Value::Object(declared)) if declared.is_empty() => self.capabilities(json!({
                "elicitation": { "form": {}, "url": {} }, "sampling": { "tools": {} }, "roots": {},
            })),
            _ => self,
        }
    }

    /// The same request, whose answer is given as it comes: also one that asks for what has no answer.
    pub fn untyped(self) -> Call<Response> {
        self.retyped()
    }

    /// Makes the request, and returns while it runs.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(self) -> Running<T> {
        let call = self.untyped();
        Running::new(call.begin(), call)
    }
}

impl Call<Response> {
    /// The same request with what was asked for, if all of that has an answer.
    pub(super) fn retry(&mut self, asked: &Map<String, Value>, state: &Value) -> Option<Exchange> {
        let responses = self.answers.give(asked)?;
        self.id = self.ids.next();
        self.params.insert("inputResponses".to_owned(), responses.into());
        self.params.remove("requestState");
        if !state.is_null() {
            self.params.insert("requestState".to_owned(), state.clone());
        }
        Some(self.begin())
    }

    /// The same request under another id.
    pub(super) fn with_id(self, id: Value) -> Self {
        Self { id, ..self }
    }

    pub(super) fn begin(&self) -> Exchange {
        let (mut params, mut profile) = (self.params.clone(), self.profile.clone());
        profile
            .extensions
            .insert(Reachable(Arc::new(LiveAnswers::new(self.answers.clone(), self.questions.clone()))));
        let meta = params.entry("_meta").or_insert_with(|| json!({}));
        if let Value::Object(meta) = meta {
            for (key, value) in &profile.meta {
                if profile.handshake.sends(key) {
                    meta.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        let message = json!({ "jsonrpc": "2.0", "id": self.id, "method": self.method, "params": params });
        profile.handshake.exchange(Arc::clone(&self.engine), &profile, &self.method, &message)
    }
}

impl<T> Call<T> {
    fn retyped<U>(self) -> Call<U> {
        let Self { engine, profile, ids, id, method, params, answers, questions, answer: _ } = self;
        Call { engine, profile, ids, id, method, params, answers, questions, answer: PhantomData }
    }

    fn argument(mut self, place: &[&str], name: &str, value: Value) -> Self {
        let arguments = place.iter().fold(&mut self.params, |object, key| {
            let member = object.entry(*key).or_insert_with(|| json!({}));
            member.as_object_mut().expect("arguments are an object")
        });
        arguments.insert(name.to_owned(), value);
        self
    }
}

/// The setters of arguments.
macro_rules! argument_setters {
    ($($response:ident),*) => {$(
        impl Call<$response> {
            /// Sets an argument.
            ///
            /// # Panics
            /// If the value can't be JSON.
            #[track_caller]
            pub fn arg(self, name: &str, value: impl Serialize) -> Self {
                let value = json(name, &value);
                self.argument(&["arguments"], name, value)
            }

            /// Sets all arguments of an object.
            ///
            /// # Panics
            /// If `arguments` is not an object.
            #[track_caller]
            pub fn args(self, arguments: impl Serialize) -> Self {
                let arguments = object("the arguments", &arguments);
                arguments.into_iter().fold(self, |call, (name, value)| call.argument(&["arguments"], &name, value))
            }
        }
    )*};
}
argument_setters!(ToolResponse, PromptResponse);

impl Call<CompletionResponse> {
    /// Names an argument that has its value already.
    pub fn chosen(self, name: &str, value: &str) -> Self {
        self.argument(&["context", "arguments"], name, value.into())
    }
}

#[track_caller]
fn json(what: &str, value: &impl Serialize) -> Value {
    match serde_json::to_value(value) {
        Ok(value) => value,
        Err(error) => panic!("{what} can't be JSON: {error}"),
    }
}

#[track_caller]
fn object(what: &str, value: &impl Serialize) -> Map<String, Value> {
    match json(what, value) {
        Value::Object(members) => members,
        other => panic!("{what} must be an object, not {other}"),
    }
}

impl<T: Answered> IntoFuture for Call<T> {
    type Output = Result<T, RpcError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.start().finish().await })
    }
}

impl<T> std::fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call")
            .field("method", &self.method)
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}
