//! One request's life: admit, limit, invoke, finish.
//!
//! Every transport hands its requests to [`Engine::handle`], and only differs in how bytes come and go.

mod admission;
mod answer;
mod asking;
mod call;
mod conversation;
mod gate;
mod handling;
mod headers;
mod initialize;
mod invoke;
mod lifecycle;
mod limits;
mod listen;
mod live;
mod rate_limit;
mod request;
mod revision;
mod target;
mod views;

use std::sync::{Arc, Mutex};

use http::{Extensions, HeaderMap};
use tokio::{sync::Semaphore, time::Instant};

#[cfg(feature = "rate-limit")]
pub use self::rate_limit::TokenBucket;
pub(crate) use self::{
    admission::AdmissionChoice,
    answer::Answer,
    call::CallStream,
    conversation::Conversation,
    gate::Gate,
    headers::{Twice, once},
    lifecycle::{Lifecycle, Phase},
    live::Live,
    rate_limit::DynRateLimit,
    views::EndpointViews,
};
pub use self::{
    admission::{Admission, AdmissionRequest, Anonymous, Denied, anonymous},
    lifecycle::ShutdownReport,
    limits::Limits,
    rate_limit::{RateLimit, RateLimited},
};
use crate::{
    handler::{CancellationToken, Framing, StateMap, panic},
    registry::{DynPolicy, catalog::Catalog},
    request_state::StateSealer,
    subscription::{Hub, Registration, Subscription},
};

/// What all requests of a server share.
pub(crate) struct Shared {
    pub limits: Limits,
    pub lifecycle: Lifecycle,
    pub gate: Gate,
    pub blocking: Arc<Semaphore>,
    pub state: Arc<StateMap>,
    pub admission: AdmissionChoice,
    pub request_limit: Option<Arc<dyn DynRateLimit>>,
    pub tool_limit: Option<Arc<dyn DynRateLimit>>,
    pub policy: Option<Arc<dyn DynPolicy>>,
    pub subscriptions: Arc<Hub>,
    /// Seals what handlers that ask keep between two rounds.
    pub states: StateSealer,
    /// What seals them.
    pub state_keys: StateKeys,
    /// The server's place among its publisher's listeners; closed when it shuts down.
    pub registration: Mutex<Option<Registration>>,
}

/// What seals request states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateKeys {
    /// Not chosen: a key of this process, on loopback only.
    Unchosen,
    /// A key of this process, by choice.
    Development,
    /// Keys, or a protector, of the application's.
    Own,
}

/// One endpoint's engine; clones share it.
#[derive(Clone)]
pub(crate) struct Engine {
    pub shared: Arc<Shared>,
    pub catalog: Arc<Catalog>,
    /// Its place among the endpoints of the server.
    pub number: usize,
}

/// A request as a transport received it.
pub(crate) struct Incoming<'b> {
    /// One JSON-RPC message.
    pub body: &'b [u8],
    /// When it arrived; its deadline counts from here.
    pub arrived: Instant,
    /// The signal that its client gave up. A transport that learns of it otherwise keeps a clone.
    pub token: CancellationToken,
    /// How it came.
    pub channel: Channel,
}

/// How a request came.
pub(crate) enum Channel {
    /// Over HTTP, with headers that mirror the body.
    Http {
        /// All headers.
        headers: HeaderMap,
        /// What layers in front have added.
        extensions: Extensions,
    },
    /// As a line of a byte stream, or in process.
    Lines {
        /// What the application has added.
        extensions: Extensions,
        /// What it is a part of.
        conversation: Arc<Conversation>,
    },
}

impl Channel {
    const fn framing(&self) -> Framing {
        match self {
            Self::Http { .. } => Framing::SSE,
            Self::Lines { .. } => Framing::LINES,
        }
    }
}

/// What a request is answered with.
pub(crate) enum Reply {
    /// One message.
    Answer(Answer),
    /// A notification was taken: no message.
    Accepted,
    /// A stream of messages, the last of which is the answer.
    Stream(CallStream),
    /// A subscription, whose first message is its acknowledgement.
    Subscription(Subscription),
}
