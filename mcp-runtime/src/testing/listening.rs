//! Subscriptions of the test client.

use std::{collections::VecDeque, future::IntoFuture, pin::Pin, sync::Arc};

use serde_json::{Map, Value, json};

use super::{
    call::{Call, profile_setters},
    client::Ids,
    client::Profile,
    error::RpcError,
    response::Response,
    running::parse,
};
use crate::{engine::Engine, protocol::keys, subscription::EndReason, transport::in_process::Exchange};

/// A subscription in the making: awaiting it opens the stream, and returns when that is acknowledged.
#[must_use = "nothing is subscribed to until it is awaited"]
pub struct Listen {
    pub(super) engine: Arc<Engine>,
    pub(super) profile: Profile,
    pub(super) id: Value,
    pub(super) filter: Map<String, Value>,
}

impl Listen {
    profile_setters!();

    /// Asks for changes of the list of tools.
    pub fn tools(self) -> Self {
        self.filter("toolsListChanged", true)
    }

    /// Asks for changes of the list of prompts.
    pub fn prompts(self) -> Self {
        self.filter("promptsListChanged", true)
    }

    /// Asks for changes of the lists of resources and templates.
    pub fn resources(self) -> Self {
        self.filter("resourcesListChanged", true)
    }

    /// Asks for updates of one more resource.
    pub fn resource(mut self, uri: &str) -> Self {
        let uris = self.filter.entry("resourceSubscriptions").or_insert_with(|| json!([]));
        if let Value::Array(uris) = uris {
            uris.push(uri.into());
        }
        self
    }

    /// Sets any member of the filter.
    pub fn filter(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.filter.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the id of the request: a string or an integer.
    pub fn id(mut self, id: impl Into<Value>) -> Self {
        self.id = id.into();
        self
    }

    /// Opens the stream, and waits for its acknowledgement.
    ///
    /// # Errors
    /// The error that the server answers with.
    ///
    /// # Panics
    /// If the stream begins with anything else.
    pub async fn open(self) -> Result<Listening, RpcError> {
        let id = self.id.clone();
        let request = Call::<Response>::new(
            self.engine,
            self.profile,
            Ids::default(),
            "subscriptions/listen",
            &json!({ "notifications": self.filter }),
        )
        .with_id(self.id);
        let mut listening = Listening {
            exchange: request.begin(),
            id,
            acknowledged: Value::Null,
            heard: VecDeque::new(),
            result: None,
        };
        listening.listen().await?;
        assert!(!listening.acknowledged.is_null(), "the stream does not begin with its acknowledgement");
        Ok(listening)
    }
}

impl IntoFuture for Listen {
    type Output = Result<Listening, RpcError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.open())
    }
}

/// What a stream told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Heard {
    /// The list of tools has changed.
    Tools,
    /// The list of prompts has changed.
    Prompts,
    /// The list of resources or templates has changed.
    Resources,
    /// The resource at this URI has changed.
    Resource(String),
}

impl Heard {
    /// The resource at a URI has changed.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource(uri.into())
    }
}

/// An acknowledged subscription. Dropping it is how a client goes away; not asking for what it heard is how a client
/// stalls.
#[must_use = "dropping a subscription closes it"]
pub struct Listening {
    exchange: Exchange,
    id: Value,
    acknowledged: Value,
    heard: VecDeque<Heard>,
    result: Option<Value>,
}

impl Listening {
    /// What the server honours of the filter.
    #[must_use]
    pub fn acknowledged(&self) -> &Value {
        &self.acknowledged
    }

    /// Waits for the next change; `None` when the server has ended the stream.
    ///
    /// # Panics
    /// If the server sends what does not belong to a subscription, or not to this one.
    pub async fn next(&mut self) -> Option<Heard> {
        while self.heard.is_empty() && self.listen().await.is_ok_and(|more| more) {}
        self.heard.pop_front()
    }

    /// The result by which the server ended the stream, once it was read.
    #[must_use]
    pub fn result(&self) -> Option<&Value> {
        self.result.as_ref()
    }

    /// Why the stream has ended, or is about to; the wire does not tell.
    #[must_use]
    pub fn end_reason(&self) -> Option<EndReason> {
        self.exchange.subscription()?.reason()
    }

    /// Hears the next messages; false at the end.
    async fn listen(&mut self) -> Result<bool, RpcError> {
        let Some(lines) = self.exchange.lines().await else { return Ok(false) };
        for message in parse(&lines) {
            self.hear(&message)?;
        }
        Ok(true)
    }

    fn hear(&mut self, message: &Value) -> Result<(), RpcError> {
        if let Some(error) = message.get("error") {
            return Err(
                serde_json::from_value(error.clone()).unwrap_or_else(|_| panic!("no error: {message}"))
            );
        }
        let first = self.acknowledged.is_null();
        let tag = |of: &Value| assert_eq!(of["_meta"][keys::SUBSCRIPTION_ID], self.id, "{message}");
        assert!(self.result.is_none(), "a message after the result: {message}");
        if let Some(result) = message.get("result") {
            tag(result);
            assert_eq!(message["id"], self.id, "{message}");
            self.result = Some(result.clone());
            return Ok(());
        }
        let params = &message["params"];
        tag(params);
        match message["method"].as_str().and_then(|method| method.strip_prefix("notifications/")) {
            Some("subscriptions/acknowledged") if first => {
                self.acknowledged = params["notifications"].clone();
            }
            Some("tools/list_changed") if !first => self.heard.push_back(Heard::Tools),
            Some("prompts/list_changed") if !first => self.heard.push_back(Heard::Prompts),
            Some("resources/list_changed") if !first => self.heard.push_back(Heard::Resources),
            Some("resources/updated") if !first => {
                self.heard.push_back(Heard::resource(params["uri"].as_str().unwrap_or_default()));
            }
            _ => panic!("an unexpected message: {message}"),
        }
        Ok(())
    }
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listening")
            .field("id", &self.id)
            .field("acknowledged", &self.acknowledged)
            .field("end_reason", &self.end_reason())
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Listen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listen").field("id", &self.id).field("filter", &self.filter).finish_non_exhaustive()
    }
}
