//! Serving a server by itself.

use std::{fmt, io, net::SocketAddr, sync::Arc};

use tokio::net::{TcpListener, ToSocketAddrs};

use super::McpServer;
use crate::{
    engine::{AdmissionChoice, Live, Phase, StateKeys},
    registry::{BuildError, BuildFault},
    transport::{
        http::{Listener, accept},
        stdio,
    },
};

/// Why a server does not serve.
#[non_exhaustive]
pub enum ServeError {
    /// It can't be built.
    Build(BuildError),
    /// An address can't be listened at; `None` if it has no meaning.
    Bind(Option<SocketAddr>, io::Error),
    /// Its byte stream failed.
    Io(io::Error),
}

impl From<BuildError> for ServeError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::Bind(Some(address), error) => write!(f, "can't listen at {address}: {error}"),
            Self::Bind(None, error) => write!(f, "can't listen: {error}"),
            Self::Io(error) => write!(f, "the connection failed: {error}"),
        }
    }
}

/// As `Display`: this is what a `main` that returns it prints.
impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Build(_) => None,
            Self::Bind(_, error) | Self::Io(error) => Some(error),
        }
    }
}

impl McpServer {
    /// Listens at a TCP address and serves HTTP/1.1 and HTTP/2, until SIGTERM, Ctrl-C or the
    /// [`handle`](Self::handle) ends it gracefully.
    ///
    /// # Errors
    /// If the address can't be listened at, or others than this machine could reach the server and nobody chose
    /// admission, `allowed_hosts` and, if handlers ask their client, what seals request states.
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), ServeError> {
        self.serve_with(bind(address).await?).await
    }

    /// Serves the connections of a listener, as [`serve`](Self::serve).
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    pub async fn serve_with(self, listener: impl Listener) -> Result<(), ServeError> {
        let address = listener.local_address();
        self.check_reach(address)?;
        if let Some(address) = address {
            for endpoint in &*self.endpoints {
                tracing::info!("serving http://{address}{}", endpoint.path());
            }
        }
        let serving = self.shared.lifecycle.serving();
        let accepting = accept(listener, self.service(), Arc::clone(&self.shared));
        let mut accepting = std::pin::pin!(accepting);
        tokio::select! {
            () = accepting.as_mut() => drop(serving),
            () = told_to_end() => {
                let closed = async {
                    accepting.await;
                    drop(serving);
                };
                tokio::join!(self.handle.shutdown(), closed);
            }
        }
        // If somebody else ends the server, this is over when they are.
        self.handle.shutdown().await;
        Ok(())
    }

    /// Serves the only endpoint over standard input and output, until the input ends, or SIGTERM, Ctrl-C or the
    /// [`handle`](Self::handle) ends the server gracefully.
    ///
    /// Nothing but messages may go to standard output: print and log to standard error.
    ///
    /// # Errors
    /// If there are several endpoints, a stream breaks, or nobody reads the output for `write_timeout`.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        let [endpoint] = &*self.endpoints else {
            let fault = "the server has several endpoints, and stdio serves one: name it with `.serve_stdio_at(\"/…\")`";
            return Err(BuildError::from(BuildFault::new(fault)).into());
        };
        self.serve_streams(endpoint).await
    }

    /// Serves the endpoint at a path, as [`serve_stdio`](Self::serve_stdio).
    ///
    /// # Errors
    /// If there is no endpoint at this path; otherwise as [`serve_stdio`](Self::serve_stdio).
    pub async fn serve_stdio_at(self, path: &str) -> Result<(), ServeError> {
        self.serve_streams(Live::at(&self.endpoints, path)?).await
    }

    async fn serve_streams(&self, endpoint: &Live) -> Result<(), ServeError> {
        let lifecycle = &self.shared.lifecycle;
        let serving = lifecycle.serving();
        let serve = async {
            let served = stdio::serve(endpoint).await;
            drop(serving);
            lifecycle.advance(Phase::Draining);
            served
        };
        let shutdown = async {
            tokio::select! {
                () = told_to_end() => {}
                () = lifecycle.reached(Phase::Draining) => {}
            }
            self.handle.shutdown().await
        };
        let (served, _) = tokio::join!(serve, shutdown);
        served.map_err(ServeError::Io)
    }

    /// A server that others can reach needs a choice of who may call.
    fn check_reach(&self, address: Option<SocketAddr>) -> Result<(), BuildError> {
        if self.shared.state_keys != StateKeys::Own && self.asks() {
            tracing::warn!(
                "request states are sealed with a key of this process: they end with it, and open on no other server; \
                 give it keys with `.request_state_protector(…)`"
            );
        }
        if address.is_some_and(|address| address.ip().is_loopback()) {
            return Ok(());
        }
        let place = address.map_or_else(|| "a listener of its own".to_owned(), |address| address.to_string());
        self.check_exposure(&format!("others can reach {place}, and "))
    }

    /// What a server that others can reach must not leave open; `why` comes before each fault.
    pub(super) fn check_exposure(&self, why: &str) -> Result<(), BuildError> {
        let mut faults = Vec::new();
        let mut fault = |what: &str| faults.push(BuildFault::new(format!("{why}{what}")));
        if matches!(self.shared.admission, AdmissionChoice::Unchosen) {
            fault("who may call was not chosen: add `.admission(anonymous())`, or an admission of your own");
        }
        if self.policy.allowed_hosts.is_none() {
            fault("the hosts that are served were not named: add `.allowed_hosts([\"mcp.example.com\"])`");
        }
        if self.shared.state_keys == StateKeys::Unchosen && self.asks() {
            fault(
                "what handlers keep while they ask their client has no key that outlives the process: add \
                 `.request_state_protector(KeyRing::new(StateKey::new(\"2026-12\", secret)?))`",
            );
        }
        BuildError::check(faults)
    }

    /// Whether any operation asks its client.
    fn asks(&self) -> bool {
        self.endpoints.iter().any(|endpoint| endpoint.now().catalog.asks())
    }
}

/// Listens at the first of an address's meanings that can be listened at.
async fn bind(address: impl ToSocketAddrs) -> Result<TcpListener, ServeError> {
    let mut failed =
        ServeError::Bind(None, io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    for address in tokio::net::lookup_host(address).await.map_err(|error| ServeError::Bind(None, error))? {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = ServeError::Bind(Some(address), error),
        }
    }
    Err(failed)
}

/// Waits for SIGTERM or Ctrl-C.
pub(super) async fn told_to_end() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
