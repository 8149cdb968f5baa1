//! Accepting connections and serving them, until the server stops.

use std::{
    convert::Infallible,
    future::Future,
    io,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{sync::Semaphore, task::JoinSet, time::sleep};

use super::{
    HttpService,
    activity::Activity,
    listener::Listener,
    socket::{Socket, Version},
    watch::{First, watched},
};
use crate::engine::{Phase, Shared};

/// How long to wait when accepting fails for a reason of its own, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// Serves a listener's connections until the server stops, and all of them have ended or were cut off.
pub(crate) async fn accept(mut listener: impl Listener, service: HttpService, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(shared.limits.max_connections));
    let mut connections = JoinSet::new();
    let mut draining = pin!(shared.lifecycle.reached(Phase::Draining));
    loop {
        let next = async {
            // With all places taken, the next connection waits in the kernel's queue.
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = &mut draining => break,
            next = next => next,
        };
        // Finished tasks are let go as new ones come.
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((io, address)) => {
                tracing::trace!(?address, "accepted a connection");
                let connection = serve(io, service.clone(), Arc::clone(&shared));
                connections.spawn(async move {
                    let _place = place;
                    if let Err(error) = connection.await {
                        tracing::debug!(?address, error, "a connection ended");
                    }
                });
            }
            Err(error) if of_one_connection(&error) => tracing::debug!(%error, "a connection failed to open"),
            Err(error) => {
                tracing::error!(%error, "could not accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

fn of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn serve<Io>(io: Io, service: HttpService, shared: Arc<Shared>) -> Result<(), String>
where
    Io: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let limits = &shared.limits;
    let opened = tokio::select! {
        opened = tokio::time::timeout(limits.header_read_timeout, Socket::open(io, limits.write_timeout)) => opened,
        () = shared.lifecycle.reached(Phase::Draining) => return Ok(()),
    };
    let (socket, version) =
        opened.map_err(|_| "no request came".to_owned())?.map_err(|error| error.to_string())?;
    let activity = socket.activity();
    let service = service_fn({
        let activity = Arc::clone(&activity);
        move |request: Request<Incoming>| {
            let (service, ticket) = (service.clone(), activity.begin());
            async move {
                // In a box of its own while it runs: it is large, and hyper keeps a place for it on every connection.
                let response = Box::pin(service.respond(request)).await;
                let response = response.map(|body| body.with_ticket(ticket));
                #[cfg(feature = "http2")]
                let response =
                    response.map(|body| if version == Version::Http2 { body.in_pieces() } else { body });
                Ok::<_, Infallible>(response)
            }
        }
    });
    match version {
        Version::Http1 => {
            let connection = http1::Builder::new()
                // Told by the connection's silence instead: a timer for each request would cost more than its head.
                .header_read_timeout(None)
                .max_buf_size(limits.max_header_bytes)
                .serve_connection(TokioIo::new(socket), service);
            let watcher = async { activity.silent(limits.header_read_timeout).await };
            until_stopped(
                connection,
                |connection| connection.graceful_shutdown(),
                watcher,
                &shared,
                &activity,
            )
            .await
        }
        #[cfg(feature = "http2")]
        Version::Http2 => {
            let header_bytes = u32::try_from(limits.max_header_bytes).unwrap_or(u32::MAX);
            let connection = hyper::server::conn::http2::Builder::new(hyper_util::rt::TokioExecutor::new())
                .timer(hyper_util::rt::TokioTimer::new())
                .max_header_list_size(header_bytes)
                .keep_alive_interval(limits.keep_alive)
                .serve_connection(TokioIo::new(socket), service);
            let watcher = async { activity.stalled(limits.write_timeout).await };
            until_stopped(
                connection,
                |connection| connection.graceful_shutdown(),
                watcher,
                &shared,
                &activity,
            )
            .await
        }
        #[cfg(not(feature = "http2"))]
        Version::Http2 => Err("HTTP/2 needs the feature `http2`".to_owned()),
    }
}

/// How long an idle connection may take to end by itself: its peer may have begun a request, or not listen at all.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Drives a connection; ends it when its watcher has seen enough; asks it to end when the server drains, and cuts it
/// off when the server has stopped.
async fn until_stopped<C>(
    connection: C,
    finish: impl Fn(Pin<&mut C>),
    watcher: impl Future<Output = ()>,
    shared: &Shared,
    activity: &Activity,
) -> Result<(), String>
where
    C: Future<Output = hyper::Result<()>>,
{
    let mut connection = pin!(connection);
    let mut drains = pin!(async {
        tokio::select! {
            () = watcher => false,
            () = shared.lifecycle.reached(Phase::Draining) => true,
        }
    });
    match watched(connection.as_mut(), drains.as_mut()).await {
        First::Connection(ended) => return ended.map_err(|error| error.to_string()),
        First::Watcher(false) => return Err("the peer is silent, or does not read".to_owned()),
        First::Watcher(true) => finish(connection.as_mut()),
    }
    tokio::select! {
        ended = connection => ended.map_err(|error| error.to_string()),
        () = activity.idle(LAST_MOMENT) => Ok(()),
        () = shared.lifecycle.reached(Phase::Stopped) => {
            shared.lifecycle.count_closed_connection();
            Err("the server stopped".to_owned())
        }
    }
}
