//! A server without a socket.

use http_body_util::BodyExt;
use mcp_runtime::{
    prelude::{ServerHandle, anonymous},
    server::ServerBuilder,
    subscription::Subscriptions,
    transport::http::{HttpService, ResponseBody},
};
use tower_service::Service as _;

use crate::{Event, Events, Message, Reply};

/// A server that is called as a tower service, in the caller's own time.
#[derive(Clone, Debug)]
pub struct Local {
    service: HttpService,
    handle: ServerHandle,
    subscriptions: Subscriptions,
}

impl Local {
    /// A server for everybody.
    #[must_use]
    pub fn new(builder: ServerBuilder) -> Self {
        Self::guarded(builder.admission(anonymous()))
    }

    /// A server with an admission of its own.
    ///
    /// # Panics
    /// If it can't be built.
    #[must_use]
    pub fn guarded(builder: ServerBuilder) -> Self {
        let server = builder.allowed_hosts(["localhost"]).build();
        let server = server.unwrap_or_else(|error| panic!("{error}"));
        let (handle, subscriptions) = (server.handle(), server.subscriptions());
        let service = server.into_service().unwrap_or_else(|error| panic!("{error}"));
        Self { service, handle, subscriptions }
    }

    /// The handle of the server.
    #[must_use]
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// Its subscribers.
    #[must_use]
    pub fn subscriptions(&self) -> Subscriptions {
        self.subscriptions.clone()
    }

    /// Sends a message, and reads the whole response.
    pub async fn send(&self, message: &Message) -> Reply {
        self.open(message).await.whole().await
    }

    /// Sends a message, and waits for the head of the response. Dropping the future, or the stream, is how a client
    /// goes away.
    pub fn open(&self, message: &Message) -> impl Future<Output = Stream> + Send + use<> {
        self.open_request(message.to_request())
    }

    /// [`open`](Self::open), with a request that was completed by hand.
    pub fn open_request(
        &self,
        request: http::Request<http_body_util::Full<bytes::Bytes>>,
    ) -> impl Future<Output = Stream> + Send + use<> {
        let response = self.service.clone().call(request);
        async move {
            let (head, body) = response.await.expect("the service never fails").into_parts();
            Stream { status: head.status.as_u16(), headers: head.headers, body, events: Events::default() }
        }
    }
}

/// A response whose body is read bit by bit.
#[derive(Debug)]
pub struct Stream {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: http::HeaderMap,
    body: ResponseBody,
    events: Events,
}

impl Stream {
    /// The next event; `None` at the end of the body.
    ///
    /// # Panics
    /// If the body ends within an event.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.next() {
                return Some(event);
            }
            match self.chunk().await {
                Some(chunk) => self.events.push(&chunk),
                None => {
                    assert!(self.events.is_complete(), "the body ends within an event");
                    return None;
                }
            }
        }
    }

    /// The next piece of the body, as it is sent.
    pub async fn chunk(&mut self) -> Option<Vec<u8>> {
        let frame = self.body.frame().await?.expect("the body never fails");
        frame.into_data().ok().map(|data| data.to_vec())
    }

    /// The rest of the response.
    pub async fn whole(mut self) -> Reply {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await {
            body.extend_from_slice(&chunk);
        }
        Reply { status: self.status, headers: self.headers, body }
    }
}
