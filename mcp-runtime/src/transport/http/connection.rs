//! Accepting connections and serving them, until the server stops.

use std::{
    convert::Infallible,
    future::{Future, pending},
    io,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Semaphore,
    task::JoinSet,
    time::sleep,
};

use super::{
    HttpService, ResponseBody,
    activity::Activity,
    listener::Listener,
    relay::{self, Relay},
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
                let (service, shared) = (service.clone(), Arc::clone(&shared));
                connections.spawn(async move {
                    let _place = place;
                    if let Err(error) = serve(io, service, shared).await {
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
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let limits = &shared.limits;
    let opened = tokio::select! {
        opened = tokio::time::timeout(limits.header_read_timeout, Socket::open(io, limits.write_timeout)) => opened,
        () = shared.lifecycle.reached(Phase::Draining) => return Ok(()),
    };
    let (socket, version) =
        opened.map_err(|_| "no request came".to_owned())?.map_err(|error| error.to_string())?;
    match version {
        Version::Http1 => serve_http1(socket, service, &shared).await,
        #[cfg(feature = "http2")]
        Version::Http2 => serve_http2(socket, service, &shared).await,
        #[cfg(not(feature = "http2"))]
        Version::Http2 => Err("HTTP/2 needs the feature `http2`".to_owned()),
    }
}

/// Serves HTTP/1.1, until a stream has the connection to itself.
async fn serve_http1<Io>(socket: Socket<Io>, service: HttpService, shared: &Shared) -> Result<(), String>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (limits, activity) = (&shared.limits, socket.activity());
    let service = service_fn({
        let activity = Arc::clone(&activity);
        move |request: Request<Incoming>| {
            let (service, activity) = (service.clone(), Arc::clone(&activity));
            async move {
                let version = request.version();
                let response = respond(service, request, &activity).await;
                // What was answered before might still be on its way through hyper.
                if activity.is_blocked() {
                    return Ok(response);
                }
                match activity.handover.offer(version, response) {
                    Some(response) => Ok::<_, Infallible>(response),
                    None => pending().await,
                }
            }
        }
    });
    let connection = http1::Builder::new()
        // Told by the connection's silence instead: a timer for each request would cost more than its head.
        .header_read_timeout(None)
        .max_buf_size(limits.max_header_bytes)
        .serve_connection(TokioIo::new(socket), service);
    // In boxes, since each move of them would leave a copy in this task, for as long as the connection lives.
    let mut connection = UntilHandover { connection: Box::new(connection), activity: Arc::clone(&activity) };
    let watcher = Box::pin(activity.silent(limits.header_read_timeout));
    let finish = |connection: Pin<&mut UntilHandover<http1::Connection<_, _>>>| {
        Pin::new(&mut *connection.get_mut().connection).graceful_shutdown();
    };
    let Some(Some(answer)) =
        until_stopped(Pin::new(&mut connection), finish, watcher, shared, &activity).await?
    else {
        return Ok(());
    };
    // All that hyper had to write is written, and what it has read beyond the request means nothing any more.
    let socket = {
        let UntilHandover { connection, .. } = connection;
        connection.into_parts().io.into_inner()
    };
    let (mut relay, mut stopped) =
        (pin!(Relay::new(socket, answer)), pin!(shared.lifecycle.reached(Phase::Stopped)));
    match watched(relay.as_mut(), stopped.as_mut()).await {
        First::Connection(ended) => ended.map_err(|error| error.to_string()),
        First::Watcher(()) => Err(cut_off(shared)),
    }
}

#[cfg(feature = "http2")]
async fn serve_http2<Io>(socket: Socket<Io>, service: HttpService, shared: &Shared) -> Result<(), String>
where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (limits, activity) = (&shared.limits, socket.activity());
    let service = service_fn({
        let activity = Arc::clone(&activity);
        move |request: Request<Incoming>| {
            let (service, activity) = (service.clone(), Arc::clone(&activity));
            async move {
                let response = respond(service, request, &activity).await;
                Ok::<_, Infallible>(response.map(ResponseBody::in_pieces))
            }
        }
    });
    let mut connection = Box::pin(
        hyper::server::conn::http2::Builder::new(hyper_util::rt::TokioExecutor::new())
            .timer(hyper_util::rt::TokioTimer::new())
            .max_header_list_size(u32::try_from(limits.max_header_bytes).unwrap_or(u32::MAX))
            .keep_alive_interval(limits.keep_alive)
            .serve_connection(TokioIo::new(socket), service),
    );
    let watcher = Box::pin(activity.stalled(limits.write_timeout));
    let finish =
        |connection: Pin<&mut _>| hyper::server::conn::http2::Connection::graceful_shutdown(connection);
    until_stopped(connection.as_mut(), finish, watcher, shared, &activity).await.map(drop)
}

/// Answers a request. In a box of its own while it does: it is large, and hyper keeps a place for it on every
/// connection.
async fn respond(
    service: HttpService,
    request: Request<Incoming>,
    activity: &Arc<Activity>,
) -> Response<ResponseBody> {
    let ticket = activity.begin();
    let mut response = Box::pin(service.respond(request)).await;
    // In place: responses are large to move.
    response.body_mut().keep_ticket(ticket);
    response
}

/// A connection, until it has ended or a stream is to have it.
struct UntilHandover<C> {
    connection: Box<C>,
    activity: Arc<Activity>,
}

impl<C: Future<Output = hyper::Result<()>> + Unpin> Future for UntilHandover<C> {
    type Output = hyper::Result<Option<relay::Answer>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match Pin::new(&mut *self.connection).poll(cx) {
            Poll::Ready(ended) => Poll::Ready(ended.map(|()| None)),
            Poll::Pending => {
                self.activity.handover.take().map_or(Poll::Pending, |answer| Poll::Ready(Ok(Some(answer))))
            }
        }
    }
}

fn cut_off(shared: &Shared) -> String {
    shared.lifecycle.count_closed_connection();
    "the server stopped".to_owned()
}

/// How long an idle connection may take to end by itself: its peer may have begun a request, or not listen at all.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Drives a connection; ends it when its watcher has seen enough; asks it to end when the server drains, and cuts it
/// off when the server has stopped.
async fn until_stopped<C, T>(
    mut connection: Pin<&mut C>,
    finish: impl Fn(Pin<&mut C>),
    watcher: impl Future<Output = ()>,
    shared: &Shared,
    activity: &Activity,
) -> Result<Option<T>, String>
where
    C: Future<Output = hyper::Result<T>>,
{
    let mut drains = pin!(async {
        tokio::select! {
            () = watcher => false,
            () = shared.lifecycle.reached(Phase::Draining) => true,
        }
    });
    match watched(connection.as_mut(), drains.as_mut()).await {
        First::Connection(ended) => return ended.map(Some).map_err(|error| error.to_string()),
        First::Watcher(false) => return Err("the peer is silent, or does not read".to_owned()),
        First::Watcher(true) => finish(connection.as_mut()),
    }
    tokio::select! {
        ended = connection => ended.map(Some).map_err(|error| error.to_string()),
        () = activity.idle(LAST_MOMENT) => Ok(None),
        () = shared.lifecycle.reached(Phase::Stopped) => Err(cut_off(shared)),
    }
}
