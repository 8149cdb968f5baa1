//! Streamable HTTP (specification: `transports/streamable-http`).

mod activity;
mod body;
mod connection;
mod listener;
mod media;
mod security;
mod socket;
mod watch;

use std::{
    collections::HashMap,
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use http_body::Body;
use tokio::time::Instant;

use self::{
    body::ReadError,
    media::{EVENTS, JSON},
};
pub use self::{body::ResponseBody, listener::Listener};
pub(crate) use self::{connection::accept, security::HttpPolicy};
use crate::{
    engine::{Answer, Channel, Engine, Incoming, Phase, Reply},
    handler::CancellationToken,
    protocol::{Condition, ProtocolError},
};

/// The endpoints of a server over HTTP: a tower service for any body.
#[derive(Clone)]
pub struct HttpService(Arc<Endpoints>);

struct Endpoints {
    by_path: HashMap<Arc<str>, Engine>,
    policy: HttpPolicy,
}

impl HttpService {
    pub(crate) fn new(engines: impl IntoIterator<Item = Engine>, policy: HttpPolicy) -> Self {
        let by_path =
            engines.into_iter().map(|engine| (Arc::clone(&engine.catalog.info.path), engine)).collect();
        Self(Arc::new(Endpoints { by_path, policy }))
    }

    /// Answers one HTTP request.
    pub(crate) async fn respond<B: Body>(&self, request: Request<B>) -> Response<ResponseBody> {
        let Endpoints { by_path, policy } = &*self.0;
        let (parts, body) = request.into_parts();
        let cors = policy.cors_origin(&parts.headers);
        let preflight = cors.is_some() && parts.method == Method::OPTIONS;
        let asked = preflight.then(|| parts.headers.clone());
        let mut response = match by_path.get(parts.uri.path()) {
            None => refuse(404, &ProtocolError::new(Condition::InvalidRequest, "no endpoint at this path")),
            Some(engine) => endpoint(engine, policy, parts, body).await,
        };
        if let Some(origin) = cors {
            security::allow_cors(response.headers_mut(), origin);
        }
        if let Some(asked) = asked.filter(|_| response.status() == StatusCode::METHOD_NOT_ALLOWED) {
            *response.status_mut() = StatusCode::NO_CONTENT;
            *response.body_mut() = ResponseBody::whole(Bytes::new());
            response.headers_mut().remove(header::CONTENT_TYPE);
            security::allow_preflight(response.headers_mut(), &asked);
        }
        response
    }
}

async fn endpoint<B: Body>(
    engine: &Engine,
    policy: &HttpPolicy,
    parts: Parts,
    body: B,
) -> Response<ResponseBody> {
    let arrived = Instant::now();
    let limits = &engine.shared.limits;
    if body::is_too_large(&parts.headers, limits.max_body_bytes) {
        return too_large(limits.max_body_bytes);
    }
    if let Err(error) = check(policy, &parts) {
        return refuse(error.condition().http_status(), &error);
    }
    let deadline = arrived + limits.request_timeout;
    // What has not arrived when the server stops would be refused anyway.
    let stopping = engine.shared.lifecycle.reached(Phase::Draining);
    let read = body::read(&parts.headers, body, limits.max_body_bytes, deadline, stopping).await;
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(ReadError::TooLate) => {
            return refuse(503, &ProtocolError::new(Condition::Overloaded, "the server is shutting down"));
        }
        Err(ReadError::TooLarge) => return too_large(limits.max_body_bytes),
        Err(ReadError::TooSlow) => {
            return refuse(408, &ProtocolError::new(Condition::InvalidRequest, "the body took too long"));
        }
        Err(ReadError::Broken) => {
            return refuse(400, &ProtocolError::new(Condition::InvalidRequest, "the body could not be read"));
        }
    };
    let incoming = Incoming {
        body: &bytes,
        arrived,
        token: CancellationToken::new(),
        channel: Channel::Http { headers: parts.headers, extensions: parts.extensions },
    };
    match engine.handle(incoming).await {
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
    let mut response = typed(ResponseBody::whole(answer.message), JSON);
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
    let mut response = typed(body, EVENTS);
    // nginx and its kin would keep events back until a buffer is full.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn typed(body: ResponseBody, content_type: HeaderValue) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
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
        let service = self.clone();
        Box::pin(async move { Ok(service.respond(request).await) })
    }
}

impl std::fmt::Debug for HttpService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.by_path.keys()).finish()
    }
}
