//! One call of one handler, as the framework sees it.

use std::{
    fmt,
    sync::{Arc, OnceLock, Weak},
};

use http::{Extensions, HeaderMap};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use super::{
    Ask, Asking, Caller, CancellationToken, EndpointInfo, Logger, Outbox, ProgressReporter, RequestContext,
    RequestState, StateMap, WorkGuard,
};
use crate::protocol::{
    ClientCapabilities, ClientInfo, Introduction, LogLevel, MetaMap, ProgressToken, RequestId, Revision,
};

/// What [`FromInvocation`](super::FromInvocation) reads from: everything that is known of the call.
///
/// Clones are cheap and share one invocation.
#[derive(Clone)]
pub struct Invocation(Arc<Inner>);

/// What an invocation is made of; filled in by the engine.
pub(crate) struct InvocationParts {
    /// The id of the JSON-RPC request.
    pub request_id: RequestId,
    /// The revision that the request speaks.
    pub revision: Revision,
    /// What the client said of itself before, in a revision whose requests don't.
    pub client: Option<Arc<Introduction>>,
    /// The JSON text of the request's `_meta`, or `{}`.
    pub meta: Box<str>,
    /// The endpoint that serves it.
    pub endpoint: Arc<EndpointInfo>,
    /// What it addresses.
    pub target: Target,
    /// Who calls.
    pub caller: Caller,
    /// The headers of the HTTP request; empty on other transports.
    pub headers: HeaderMap,
    /// What layers in front put into the HTTP request.
    pub extensions: Extensions,
    /// The state that the server was given.
    pub state: Arc<StateMap>,
    /// The signal that nobody waits any more.
    pub cancellation: CancellationToken,
    /// Where progress and logs go, if the request asked for any.
    pub outbox: Option<Arc<Outbox>>,
    /// The token to report progress under, if one was sent.
    pub progress_token: Option<ProgressToken>,
    /// The least level of log messages to send, if any are wanted.
    pub log_level: Option<LogLevel>,
    /// When the request is given up.
    pub deadline: Option<Instant>,
    /// The places for blocking handlers.
    pub blocking: Arc<Semaphore>,
    /// How the client is asked, if the handler may.
    pub asking: Option<Arc<Asking>>,
}

/// What a request addresses beside its method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The tool or prompt of this name, or a list.
    Operation(Arc<str>),
    /// A resource.
    Resource {
        /// The URI as requested.
        uri: Box<str>,
        /// The MIME type that the resource declares.
        mime_type: Option<Arc<str>>,
    },
}

struct Inner {
    parts: InvocationParts,
    meta: OnceLock<MetaMap>,
    /// What the client says of itself with the request. Few ask, so it takes little room until then.
    client: OnceLock<Box<Introduction>>,
    work: OnceLock<Weak<dyn Send + Sync>>,
}

impl Invocation {
    pub(crate) fn new(parts: InvocationParts) -> Self {
        Self(Arc::new(Inner { parts, meta: OnceLock::new(), client: OnceLock::new(), work: OnceLock::new() }))
    }

    /// The request's metadata, which a handler can take as a parameter.
    #[must_use]
    pub fn context(&self) -> RequestContext {
        RequestContext::new(self.clone())
    }

    /// The cancellation of this invocation.
    #[must_use]
    pub fn cancellation(&self) -> CancellationToken {
        self.parts().cancellation.clone()
    }

    /// The reporter of its progress, if the client asked for progress.
    #[must_use]
    pub fn progress(&self) -> Option<ProgressReporter> {
        let parts = self.parts();
        let outbox = parts.outbox.clone()?;
        Some(ProgressReporter::new(outbox, parts.progress_token.clone()?))
    }

    /// Its log notifications.
    #[must_use]
    pub fn logger(&self) -> Logger {
        Logger::new(self.parts().outbox.clone(), self.parts().log_level)
    }

    /// How the client is asked; `None` if no parameter of the handler has declared that it asks
    /// ([`Needs::asking`](super::Needs::asking)).
    #[must_use]
    pub fn ask(&self) -> Option<Ask> {
        Some(Ask::new(self.clone(), Arc::clone(self.parts().asking.as_ref()?)))
    }

    /// Whether its client has had a way to say what it can do.
    pub(crate) fn knows_client(&self) -> bool {
        self.parts().revision.is_modern() || self.parts().client.is_some()
    }

    pub(super) fn request_state(&self) -> Option<RequestState> {
        Some(RequestState::new(Arc::clone(self.parts().asking.as_ref()?)))
    }

    /// A value that the server was given with `state(…)`, by its type.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        self.parts().state.get::<T>().cloned()
    }

    /// A value that a layer in front put into the HTTP request's extensions, by its type.
    #[must_use]
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        self.parts().extensions.get::<T>().cloned()
    }

    /// What the request addresses.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.parts().target
    }

    pub(super) fn parts(&self) -> &InvocationParts {
        &self.0.parts
    }

    pub(super) fn meta(&self) -> &MetaMap {
        self.0.meta.get_or_init(|| MetaMap::from_json(&self.parts().meta))
    }

    pub(super) fn client_info(&self) -> Option<&ClientInfo> {
        self.client().info.as_ref()
    }

    pub(super) fn client_capabilities(&self) -> &ClientCapabilities {
        &self.client().capabilities
    }

    fn client(&self) -> &Introduction {
        let parts = self.parts();
        match &parts.client {
            Some(client) => client,
            None => self.0.client.get_or_init(|| match parts.revision.is_modern() {
                true => Box::new(self.meta().introduction()),
                false => Box::default(),
            }),
        }
    }

    /// The guard is held by whoever drives the handler; here it is only known, so that a context kept by the
    /// application does not keep a place taken.
    pub(crate) fn set_work(&self, guard: &WorkGuard) {
        let _ = self.0.work.set(Arc::downgrade(guard));
    }

    pub(super) fn work_guard(&self) -> Option<WorkGuard> {
        self.0.work.get()?.upgrade()
    }

    pub(super) async fn blocking_place(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        self.parts().blocking.clone().acquire_owned().await.ok()
    }
}

impl fmt::Debug for Invocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invocation").field("id", &self.parts().request_id).finish_non_exhaustive()
    }
}
