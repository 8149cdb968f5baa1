//! Streamable HTTP (specification: `transports/streamable-http`).

mod activity;
mod body;
mod connection;
mod cors;
mod listener;
mod media;
mod relay;
mod security;
mod socket;
mod watch;

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use http_body::Body;
use tokio::time::Instant;

use self::{
    body::ReadError,
    cors::Page,
    media::{EVENTS, JSON},
};
pub use self::{body::ResponseBody, listener::Listener};
pub(crate) use self::{connection::accept, security::HttpPolicy};
use crate::{
    engine::{Answer, Channel, Engine, Incoming, Limits, Live, Phase, Reply, Shared},
    handler::CancellationToken,
    protocol::{Condition, ProtocolError},
};

/// The endpoints of a server over HTTP: a tower service for any body.
#[derive(Clone)]
pub struct HttpService(Arc<Endpoints>);

struct Endpoints {
    endpoints: Box<[Live]>,
    policy: HttpPolicy,
}

/// The answer to a request of which no message was read; in a box, as it is large and rare.
type Refused = Box<Response<ResponseBody>>;

impl HttpService {
    pub(crate) fn new(endpoints: impl IntoIterator<Item = Live>, policy: HttpPolicy) -> Self {
        Self(Arc::new(Endpoints { endpoints: endpoints.into_iter().collect(), policy }))
    }

    /// Answers one HTTP request. What needs no waiting is done before the future is made, so that it is small.
    pub(crate) fn respond<B: Body>(
        &self,
        request: Request<B>,
    ) -> impl Future<Output = Response<ResponseBody>> + use<B> {
        let arrived = Instant::now();
        let (parts, body) = request.into_parts();
        let page = Page::of(&self.0.policy, &parts);
        let opened = self.open(&parts);
        let Parts { headers, extensions, .. } = parts;
        async move {
            let response = match opened {
                Ok(engine) => match read(&engine, &headers, body, arrived).await {
                    Ok(bytes) => {
                        let channel = Channel::Http { headers, extensions };
                        let token = CancellationToken::new();
                        let incoming = Incoming { body: &bytes, arrived, token, channel };
                        let reply = engine.handle(incoming).await;
                        response(reply, &engine.shared.limits)
                    }
                    Err(refused) => *refused,
                },
                Err(refused) => *refused,
            };
            match page {
                None => response,
                Some(page) => page.allow(response),
            }
        }
    }

    /// The endpoint that a request is for, unless its head is refused.
    fn open(&self, parts: &Parts) -> Result<Arc<Engine>, Refused> {
        let Endpoints { endpoints, policy } = &*self.0;
        let path = parts.uri.path();
        // Few enough to be compared one by one.
        let Some(endpoint) = endpoints.iter().find(|endpoint| endpoint.path() == path) else {
            let error = ProtocolError::new(Condition::InvalidRequest, "no endpoint at this path");
            return Err(refuse(404, &error).into());
        };
        let engine = endpoint.now();
        let limit = engine.shared.limits.max_body_bytes;
        if body::is_too_large(&parts.headers, limit) {
            return Err(too_large(limit).into());
        }
        match check(policy, parts) {
            Ok(()) => Ok(engine),
            Err(error) => Err(refuse(error.http_status(), &error).into()),
        }
    }
}

/// Reads a request's body, in time and within its bounds.
async fn read<B: Body>(
    engine: &Engine,
    headers: &HeaderMap,
    body: B,
    arrived: Instant,
) -> Result<Bytes, Refused> {
    let Shared { limits, lifecycle, .. } = &*engine.shared;
    let deadline = arrived + limits.request_timeout;
    // What has not arrived when the server stops would be refused anyway.
    let stopping = || lifecycle.reached(Phase::Draining);
    let read = body::read(headers, body, limits.max_body_bytes, deadline, stopping).await;
    read.map_err(|error| unread(&error, limits.max_body_bytes).into())
}

fn unread(error: &ReadError, limit: usize) -> Response<ResponseBody> {
    let (status, condition, message) = match error {
        ReadError::TooLarge => return too_large(limit),
        ReadError::TooLate => (503, Condition::Overloaded, "the server is shutting down"),
        ReadError::TooSlow => (408, Condition::InvalidRequest, "the body took too long"),
        ReadError::Broken => (400, Condition::InvalidRequest, "the body could not be read"),
    };
    refuse(status, &ProtocolError::new(condition, message))
}

fn response(reply: Reply, limits: &Limits) -> Response<ResponseBody> {
    match reply {
        Reply::Answer(answer) => message(answer),
        Reply::Accepted => empty(StatusCode::ACCEPTED),
        Reply::Stream(stream) => events(ResponseBody::stream(stream, limits.keep_alive)),
        Reply::Subscription(subscription) => events(ResponseBody::subscription(subscription)),
    }
}

fn check(policy: &HttpPolicy, parts: &Parts) -> Result<(), ProtocolError> {
    policy.check_host(&parts.uri, &parts.headers)?;
    policy.check_origin(&parts.headers)?;
    if parts.method != Method::POST {
        let message = format!("{} is not served here: send each message by POST", parts.method);
        return Err(ProtocolError::new(Condition::MethodNotAllowed, message));
    }
    media::check_accept(&parts.headers)?;
    media::check_content_type(&parts.headers)
}

fn message(answer: Answer) -> Response<ResponseBody> {
    // Room for a request's headers: hyper reads the next request's into the same map.
    let mut response = typed(ResponseBody::whole(answer.message), JSON, 12);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(seconds) = answer.retry_after {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    if let Some(challenge) = answer.challenge {
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

fn too_large(limit: usize) -> Response<ResponseBody> {
    let message = format!("the body is larger than {limit} bytes");
    refuse(413, &ProtocolError::new(Condition::TooLarge, message))
}

/// A refusal before any message was read; it has no id.
fn refuse(status: u16, error: &ProtocolError) -> Response<ResponseBody> {
    tracing::debug!(status, message = error.message(), "refused an HTTP request");
    let mut response = message(Answer { status, ..Answer::error(error, None) });
    if status == 405 {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    }
    response
}

fn events(body: ResponseBody) -> Response<ResponseBody> {
    let mut response = typed(body, EVENTS, 3);
    // nginx and its kin would keep events back until a buffer is full.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// A response of a type, with room for some headers.
fn typed(body: ResponseBody, content_type: HeaderValue, room: usize) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    let mut headers = HeaderMap::with_capacity(room);
    headers.insert(header::CONTENT_TYPE, content_type);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    *response.headers_mut() = headers;
    response
}

fn empty(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(Bytes::new()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl<B: Body + Send + 'static> tower_service::Service<Request<B>> for HttpService
where
    B::Data: Send,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let response = self.respond(request);
        Box::pin(async move { Ok(response.await) })
    }
}

impl std::fmt::Debug for HttpService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let paths = self.0.endpoints.iter().map(Live::path);
        f.debug_list().entries(paths).finish()
    }
}
