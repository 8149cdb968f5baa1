//! Putting a server together.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::sync::Semaphore;

use super::{McpServer, ServeError};
use crate::{
    engine::{
        Admission, AdmissionChoice, DynRateLimit, EndpointViews, Engine, Gate, Lifecycle, Limits, Live,
        RateLimit, Shared, StateKeys,
    },
    handler::StateMap,
    registry::{
        BuildError, BuildFault, CatalogPolicy, DeclaredEndpoint, DynPolicy, Endpoint, EndpointId, Instance,
        asking::check_forms,
        catalog::Catalog,
        check,
        collect::{Collected, Selection, collect},
    },
    request_state::{DynSingleUse, DynStateProtector, KeyRing, SingleUse, StateProtector, StateSealer},
    subscription::{
        AuthorizerChoice, ChangePublisher, DynWatcher, Hub, InMemoryPublisher, Publisher, ResourceWatcher,
        SubscriptionAuthorizer,
    },
    transport::http::{HttpPolicy, Listener},
};

const NO_AUTHORIZER: &str = "tells of changes, and who may hear of them was not chosen: add \
    `.subscription_authorizer(allow_all())`, `.subscription_authorizer(deny_all())`, or one of your own";

/// A server in the making. Settings take effect last-call-wins; all that is wrong is reported by [`build`](Self::build)
/// together.
#[must_use = "a builder does nothing until it is built or served"]
pub struct ServerBuilder {
    selection: Selection,
    instances: HashMap<EndpointId, Instance>,
    by_hand: Vec<Endpoint>,
    state: StateMap,
    doubled_states: Vec<&'static str>,
    limits: Limits,
    admission: AdmissionChoice,
    request_limit: Option<Arc<dyn DynRateLimit>>,
    tool_limit: Option<Arc<dyn DynRateLimit>>,
    policy: HttpPolicy,
    publisher: Publisher,
    authorizer: AuthorizerChoice,
    watcher: Option<Arc<dyn DynWatcher>>,
    serve_subscriptions: bool,
    catalog_policy: Option<Arc<dyn DynPolicy>>,
    state_protector: Option<Arc<dyn DynStateProtector>>,
    state_keys: StateKeys,
    single_use: Option<Arc<dyn DynSingleUse>>,
}

/// What [`ServerBuilder::endpoint`] takes: the instance of a struct under `#[mcp_endpoint]` (a unit struct's name is
/// one), or an [`Endpoint`] that was filled by hand.
pub trait IntoEndpoint {
    #[doc(hidden)]
    fn add_to(self, builder: &mut ServerBuilder);
}

impl<E: DeclaredEndpoint> IntoEndpoint for E {
    fn add_to(self, builder: &mut ServerBuilder) {
        builder.select_id(E::DESCRIPTOR.id);
        builder.instances.insert(E::DESCRIPTOR.id, Arc::new(self));
    }
}

impl IntoEndpoint for Endpoint {
    fn add_to(self, builder: &mut ServerBuilder) {
        if let Some(id) = self.id {
            builder.select_id(id);
        }
        builder.by_hand.push(self);
    }
}

impl ServerBuilder {
    pub(super) fn new(selection: Selection) -> Self {
        Self {
            selection,
            instances: HashMap::new(),
            by_hand: Vec::new(),
            state: StateMap::default(),
            doubled_states: Vec::new(),
            limits: Limits::default(),
            admission: AdmissionChoice::default(),
            request_limit: None,
            tool_limit: None,
            policy: HttpPolicy::default(),
            publisher: Publisher::new(InMemoryPublisher::new()),
            authorizer: AuthorizerChoice::default(),
            watcher: None,
            serve_subscriptions: true,
            catalog_policy: None,
            state_protector: None,
            state_keys: StateKeys::Unchosen,
            single_use: None,
        }
    }

    fn select_id(&mut self, id: EndpointId) {
        if let Selection::Named(ids) = &mut self.selection
            && !ids.contains(&id)
        {
            ids.push(id);
        }
    }

    /// Takes only the annotations of these crates, by their names in `Cargo.toml`.
    pub fn only_crates<N: Into<String>>(mut self, crates: impl IntoIterator<Item = N>) -> Self {
        if let Selection::All { only_crates } = &mut self.selection {
            *only_crates = Some(crates.into_iter().map(Into::into).collect());
        }
        self
    }

    /// Serves an endpoint: the instance of an annotated struct, or one that was filled by hand.
    pub fn endpoint(mut self, endpoint: impl IntoEndpoint) -> Self {
        endpoint.add_to(&mut self);
        self
    }

    /// Serves an annotated endpoint that needs no instance, by its type.
    pub fn select<E: DeclaredEndpoint>(mut self) -> Self {
        self.select_id(E::DESCRIPTOR.id);
        self
    }

    /// Provides a value that handlers take as `State<T>`; one a type.
    pub fn state<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        if !self.state.insert(value) {
            self.doubled_states.push(std::any::type_name::<T>());
        }
        self
    }

    /// Decides who may call. Without a choice everybody may, and only under `serve` on a loopback address.
    pub fn admission(mut self, admission: impl Admission) -> Self {
        self.admission = AdmissionChoice::new(admission);
        self
    }

    /// Limits the rate of requests.
    pub fn request_rate_limit(mut self, limit: impl RateLimit) -> Self {
        self.request_limit = Some(Arc::new(limit));
        self
    }

    /// Limits the rate of tool calls.
    pub fn tool_rate_limit(mut self, limit: impl RateLimit) -> Self {
        self.tool_limit = Some(Arc::new(limit));
        self
    }

    /// Broadcasts changes; by default an [`InMemoryPublisher`] of its own. Handlers take it as [`Publisher`], and
    /// [`McpServer::publisher`] gives it to the rest of the application.
    pub fn publisher(mut self, publisher: impl ChangePublisher) -> Self {
        self.publisher = Publisher::new(publisher);
        self
    }

    /// Decides which tools, prompts and resources exist for which caller.
    pub fn catalog_policy(mut self, policy: impl CatalogPolicy) -> Self {
        self.catalog_policy = Some(Arc::new(policy));
        self
    }

    /// Decides who may subscribe to changes, and for how long:
    /// [`allow_all()`](crate::subscription::allow_all), [`deny_all()`](crate::subscription::deny_all), or one of your
    /// own. An endpoint with `changes` needs the choice.
    pub fn subscription_authorizer(mut self, authorizer: impl SubscriptionAuthorizer) -> Self {
        self.authorizer = AuthorizerChoice::new(authorizer);
        self
    }

    /// Has resources watched while somebody subscribes to them.
    pub fn watch_resources(mut self, watcher: impl ResourceWatcher) -> Self {
        self.watcher = Some(Arc::new(watcher));
        self
    }

    /// Whether subscriptions are served at all: true. A deployment that can't hold a response open (behind a gateway
    /// that buffers, say) declines them: `subscriptions/listen` is an unknown method then, and no endpoint declares
    /// that it tells of changes.
    pub fn serve_subscriptions(mut self, serve: bool) -> Self {
        self.serve_subscriptions = serve;
        self
    }

    /// Seals what handlers that ask ([`Ask`](crate::handler::Ask)) keep between two rounds: a
    /// [`KeyRing`](crate::request_state::KeyRing), whose keys all servers of a fleet share, or a protector of your own.
    /// Without a choice a key is made for this process, and only under `serve` on a loopback address, or for a client
    /// within the process or at its standard input.
    pub fn request_state_protector(mut self, protector: impl StateProtector) -> Self {
        let any: &dyn std::any::Any = &protector;
        let development = any.downcast_ref::<KeyRing>().is_some_and(KeyRing::is_development);
        self.state_keys = if development { StateKeys::Development } else { StateKeys::Own };
        self.state_protector = Some(Arc::new(protector));
        self
    }

    /// Takes each request state once: a retry that comes twice is refused the second time. A client whose retry got lost
    /// on the way begins again.
    pub fn single_use_request_states(mut self, uses: impl SingleUse) -> Self {
        self.single_use = Some(Arc::new(uses));
        self
    }

    /// The host names that requests may be for, each with a port or for any; without, the loopback names. This is
    /// what keeps a web page from reaching the server by DNS rebinding.
    pub fn allowed_hosts<N: Into<String>>(mut self, hosts: impl IntoIterator<Item = N>) -> Self {
        self.policy.allowed_hosts = Some(hosts.into_iter().map(Into::into).collect());
        self
    }

    /// Origins that may call beside those of the allowed hosts, such as `https://app.example.com`.
    pub fn allowed_origins<N: Into<String>>(mut self, origins: impl IntoIterator<Item = N>) -> Self {
        self.policy.allowed_origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Origins whose pages may call and read the answers (CORS).
    pub fn cors_origins<N: Into<String>>(mut self, origins: impl IntoIterator<Item = N>) -> Self {
        self.policy.cors_origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Replaces all limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Checks everything and makes the server.
    ///
    /// # Errors
    /// All that is wrong, each with its place and the way out.
    pub fn build(mut self) -> Result<McpServer, BuildError> {
        let mut faults = Vec::new();
        self.state.insert(self.publisher.clone());
        self.limits.check(&mut faults);
        faults.extend(self.policy.faults().into_iter().map(BuildFault::new));
        for name in &self.doubled_states {
            faults.push(BuildFault::new(format!(
                "two values of type `{name}` were given to `.state(…)`: wrap one of them in a type of its own"
            )));
        }
        let Collected { mut endpoints, operations_per_crate } =
            collect(&self.selection, &self.instances, &mut faults);
        for endpoint in self.by_hand {
            let extended = endpoint.id.and_then(|id| endpoints.iter_mut().find(|other| other.id == Some(id)));
            match extended {
                Some(extended) => extended.extend(endpoint),
                None if endpoint.id.is_none() => endpoints.push(endpoint),
                None => faults.push(BuildFault::at(
                    &endpoint.place,
                    "extends an annotated endpoint that is not served: add it with `.endpoint(…)`",
                )),
            }
        }
        if endpoints.is_empty() && faults.is_empty() {
            faults.push(BuildFault::new(
                "nothing to serve: no annotated item is linked, and no endpoint was given; a library that nobody \
                 mentions is left out by the linker: write `use my_parts as _;`",
            ));
        }
        for endpoint in &mut endpoints {
            if !self.serve_subscriptions {
                endpoint.changes.clear();
            }
            if !endpoint.changes.is_empty() && matches!(self.authorizer, AuthorizerChoice::Unchosen) {
                faults.push(BuildFault::at(&endpoint.place, NO_AUTHORIZER));
            }
        }
        check::paths(&endpoints, &mut faults);
        check_forms(&mut faults);
        let per_page = self.limits.list_page;
        let catalogs: Vec<Catalog> = endpoints
            .iter()
            .map(|endpoint| Catalog::build(endpoint, &self.state, per_page, &mut faults))
            .collect();
        BuildError::check(faults)?;
        for (name, operations) in operations_per_crate {
            tracing::info!(crate_name = name, operations, "serving annotated operations");
        }
        let publishes = catalogs.iter().any(|catalog| !catalog.changes.is_empty());
        let bounds = self.limits.subscriptions();
        let views = Arc::new(EndpointViews::default());
        let subscriptions = Arc::new(Hub::new(
            catalogs.len(),
            bounds,
            self.authorizer,
            self.watcher,
            self.catalog_policy.is_some().then(|| Arc::clone(&views) as _),
        ));
        let registration = publishes.then(|| self.publisher.subscribe(Arc::clone(&subscriptions) as _));
        let protector = match self.state_protector {
            Some(protector) => protector,
            None => Arc::new(KeyRing::development().map_err(|error| {
                BuildFault::new(format!("no key for request states could be made: {error}"))
            })?),
        };
        let states = StateSealer::new(protector, self.single_use, self.limits.states());
        let shared = Arc::new(Shared {
            gate: Gate::new(self.limits.max_concurrent_handlers, self.limits.handler_queue),
            blocking: Arc::new(Semaphore::new(self.limits.max_blocking_handlers)),
            lifecycle: Lifecycle::new(),
            limits: self.limits,
            state: Arc::new(self.state),
            admission: self.admission,
            request_limit: self.request_limit,
            tool_limit: self.tool_limit,
            policy: self.catalog_policy,
            states,
            state_keys: self.state_keys,
            subscriptions,
            registration: Mutex::new(registration),
        });
        let engine =
            |(number, catalog)| Engine { shared: Arc::clone(&shared), catalog: Arc::new(catalog), number };
        let engines = catalogs.into_iter().enumerate().map(engine);
        let endpoints: Arc<[Live]> =
            engines.zip(endpoints).map(|(engine, endpoint)| Live::new(engine, endpoint)).collect();
        views.set(&endpoints);
        Ok(McpServer::new(shared, endpoints, self.policy, self.publisher))
    }

    /// Builds the server and serves it; see [`McpServer::serve`].
    ///
    /// # Errors
    /// As [`build`](Self::build) and [`McpServer::serve`].
    pub async fn serve(self, address: impl tokio::net::ToSocketAddrs) -> Result<(), ServeError> {
        self.build()?.serve(address).await
    }

    /// Builds the server and serves a listener; see [`McpServer::serve_with`].
    ///
    /// # Errors
    /// As [`build`](Self::build) and [`McpServer::serve_with`].
    pub async fn serve_with(self, listener: impl Listener) -> Result<(), ServeError> {
        self.build()?.serve_with(listener).await
    }

    /// Builds the server and serves it over standard input and output; see [`McpServer::serve_stdio`].
    ///
    /// # Errors
    /// As [`build`](Self::build) and [`McpServer::serve_stdio`].
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        self.build()?.serve_stdio().await
    }

    /// Builds the server and makes an axum router of it; see [`McpServer::into_router`].
    ///
    /// # Errors
    /// As [`build`](Self::build) and [`McpServer::into_router`].
    pub fn into_router(self) -> Result<axum::Router, BuildError> {
        self.build()?.into_router()
    }
}

/// One setter a limit; [`Limits`] has the documentation.
macro_rules! limit_setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty),* $(,)?) => {
        impl ServerBuilder {$(
            $(#[$doc])*
            pub fn $name(mut self, $name: $type) -> Self {
                self.limits.$name = $name.into();
                self
            }
        )*}
    };
}
limit_setters! {
    /// Sets [`Limits::max_body_bytes`].
    max_body_bytes: usize,
    /// Sets [`Limits::request_timeout`].
    request_timeout: Duration,
    /// Sets [`Limits::max_concurrent_handlers`].
    max_concurrent_handlers: usize,
    /// Sets [`Limits::handler_queue`].
    handler_queue: usize,
    /// Sets [`Limits::max_blocking_handlers`].
    max_blocking_handlers: usize,
    /// Sets [`Limits::cancellation_grace`]; `None`: a cancelled handler is never dropped.
    cancellation_grace: impl Into<Option<Duration>>,
    /// Sets [`Limits::progress_queue`].
    progress_queue: usize,
    /// Sets [`Limits::keep_alive`]; `None` turns it off.
    keep_alive: impl Into<Option<Duration>>,
    /// Sets [`Limits::write_timeout`].
    write_timeout: Duration,
    /// Sets [`Limits::list_page`].
    list_page: usize,
    /// Sets [`Limits::max_listen_streams`]; `None`: no bound.
    max_listen_streams: impl Into<Option<usize>>,
    /// Sets [`Limits::max_listen_streams_per_caller`]; `None`: no bound.
    max_listen_streams_per_caller: impl Into<Option<usize>>,
    /// Sets [`Limits::listen_lifetime`].
    listen_lifetime: Duration,
    /// Sets [`Limits::max_lease`].
    max_lease: Duration,
    /// Sets [`Limits::authorization_timeout`].
    authorization_timeout: Duration,
    /// Sets [`Limits::max_authorization_checks`].
    max_authorization_checks: usize,
    /// Sets [`Limits::max_subscribed_resources`].
    max_subscribed_resources: usize,
    /// Sets [`Limits::max_subscribed_uri_bytes`].
    max_subscribed_uri_bytes: usize,
    /// Sets [`Limits::request_state_lifetime`].
    request_state_lifetime: Duration,
    /// Sets [`Limits::max_request_state_bytes`].
    max_request_state_bytes: usize,
    /// Sets [`Limits::max_input_rounds`].
    max_input_rounds: u32,
    /// Sets [`Limits::graceful_shutdown`].
    graceful_shutdown: Duration,
    /// Sets [`Limits::forced_shutdown`].
    forced_shutdown: Duration,
    /// Sets [`Limits::header_read_timeout`].
    header_read_timeout: Duration,
    /// Sets [`Limits::max_connections`].
    max_connections: usize,
    /// Sets [`Limits::max_header_bytes`].
    max_header_bytes: usize,
}

impl std::fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerBuilder")
            .field("selection", &self.selection)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
