//! The server: built, served, ended.

mod builder;
mod catalogs;
mod serve;
mod shutdown;

use std::sync::Arc;

pub use self::{
    builder::{IntoEndpoint, ServerBuilder},
    catalogs::{CatalogEdit, Catalogs},
    serve::ServeError,
    shutdown::ServerHandle,
};
use crate::{
    engine::{Live, Shared},
    registry::{BuildError, collect::Selection},
    subscription::{Publisher, Subscriptions},
    transport::http::{HttpPolicy, HttpService},
};

/// An MCP server: its endpoints, checked and ready.
#[derive(Clone)]
pub struct McpServer {
    shared: Arc<Shared>,
    pub(crate) endpoints: Arc<[Live]>,
    policy: HttpPolicy,
    handle: ServerHandle,
    publisher: Publisher,
}

impl McpServer {
    /// Starts with all annotated items of the program.
    pub fn from_annotations() -> ServerBuilder {
        ServerBuilder::new(Selection::All { only_crates: None })
    }

    /// Starts with nothing: name endpoints with [`ServerBuilder::endpoint`].
    pub fn builder() -> ServerBuilder {
        ServerBuilder::new(Selection::Named(Vec::new()))
    }

    fn new(shared: Arc<Shared>, endpoints: Arc<[Live]>, policy: HttpPolicy, publisher: Publisher) -> Self {
        let handle = ServerHandle::new(Arc::clone(&shared));
        Self { shared, endpoints, policy, handle, publisher }
    }

    /// Ends the server, and tells how that went.
    #[must_use]
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// What the application says through this reaches the subscribed clients.
    #[must_use]
    pub fn publisher(&self) -> Publisher {
        self.publisher.clone()
    }

    /// The streams of its subscribers.
    #[must_use]
    pub fn subscriptions(&self) -> Subscriptions {
        Subscriptions::new(Arc::clone(&self.shared.subscriptions))
    }

    /// What its endpoints serve, to be changed while it runs.
    #[must_use]
    pub fn catalogs(&self) -> Catalogs {
        Catalogs::new(Arc::clone(&self.endpoints))
    }

    /// The server as a tower service, whose requests go by their path.
    ///
    /// # Errors
    /// Since anybody might reach it, admission and `allowed_hosts` must have been chosen, and if handlers ask their
    /// client, how request states are sealed.
    pub fn into_service(self) -> Result<HttpService, BuildError> {
        self.check_exposure("")?;
        Ok(self.service())
    }

    /// The server as an axum router, to be merged into an application under its layers.
    ///
    /// The application serves it, so `serve`'s own limits (connections, header bytes, stalled sockets) are the
    /// application's to set; end it with [`handle`](Self::handle).
    ///
    /// # Errors
    /// As [`into_service`](Self::into_service).
    pub fn into_router(self) -> Result<axum::Router, BuildError> {
        let endpoints = Arc::clone(&self.endpoints);
        let service = self.into_service()?;
        // A segment may begin with a colon: it is no parameter of axum's.
        let empty = axum::Router::new().without_v07_checks();
        let router = endpoints.iter().fold(empty, |router, endpoint| {
            router.route_service(endpoint.path(), AxumService(service.clone()))
        });
        Ok(router)
    }

    fn service(&self) -> HttpService {
        HttpService::new(self.endpoints.iter().cloned(), self.policy.clone())
    }
}

impl std::fmt::Debug for McpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let paths: Vec<&str> = self.endpoints.iter().map(Live::path).collect();
        f.debug_struct("McpServer").field("endpoints", &paths).finish_non_exhaustive()
    }
}

/// [`HttpService`] with axum's body.
#[derive(Clone)]
struct AxumService(HttpService);

impl tower_service::Service<axum::extract::Request> for AxumService {
    type Response = axum::response::Response;
    type Error = std::convert::Infallible;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: axum::extract::Request) -> Self::Future {
        let service = self.0.clone();
        Box::pin(async move { Ok(service.respond(request).await.map(axum::body::Body::new)) })
    }
}
