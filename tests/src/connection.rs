//! A tiny HTTP/1.1 client, with every byte under control.

use std::{fmt, net::SocketAddr};

use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::TcpStream,
};

use crate::{Event, Events, Message, Reply};

/// One connection. Dropping it closes it, whatever is under way.
pub struct Connection {
    stream: BufReader<Box<dyn Stream>>,
    framing: Framing,
    events: Events,
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// How much of the current response's body is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
}

impl Connection {
    /// Connects to a TCP port.
    ///
    /// # Panics
    /// If nobody listens.
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(true).expect("an open socket");
        Self::new(stream)
    }

    pub(crate) fn new(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        Self {
            stream: BufReader::new(Box::new(stream)),
            framing: Framing::Length(0),
            events: Events::default(),
        }
    }

    /// Sends a message.
    pub async fn send(&mut self, message: &Message) {
        self.write(&message.to_wire()).await;
    }

    /// Sends bytes.
    ///
    /// # Panics
    /// If the server has closed the connection.
    pub async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("an open connection");
    }

    /// Reads a whole response.
    pub async fn reply(&mut self) -> Reply {
        let mut reply = self.head().await;
        while let Some(chunk) = self.chunk().await {
            reply.body.extend_from_slice(&chunk);
        }
        reply
    }

    /// Reads a response's head; its body is read by [`event`](Self::event).
    ///
    /// # Panics
    /// If what comes is no head of a response.
    pub async fn head(&mut self) -> Reply {
        let status_line = self.line().await;
        let status = status_line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut headers = HeaderMap::new();
        loop {
            let line = self.line().await;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').expect("a header line");
            let name: HeaderName = name.parse().expect("a header name");
            headers.append(name, HeaderValue::from_str(value.trim()).expect("a header value"));
        }
        let length = headers.get("content-length").map(|length| {
            let length = length.to_str().ok().and_then(|length| length.parse().ok());
            Framing::Length(length.expect("a length"))
        });
        let chunked = headers.get("transfer-encoding").map(|_| Framing::Chunked);
        self.framing = chunked.or(length).unwrap_or(Framing::Length(0));
        Reply {
            status: status.unwrap_or_else(|| panic!("no status line: {status_line:?}")),
            headers,
            body: Vec::new(),
        }
    }

    /// The next event of a streamed body; `None` at its proper end.
    pub async fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.next() {
                return Some(event);
            }
            let chunk = self.chunk().await?;
            self.events.push(&chunk);
        }
    }

    async fn chunk(&mut self) -> Option<Vec<u8>> {
        let length = match self.framing {
            Framing::Length(length) => length,
            Framing::Chunked => {
                let size = self.line().await;
                usize::from_str_radix(&size, 16).expect("the size of a chunk")
            }
        };
        let mut chunk = vec![0; length];
        self.stream.read_exact(&mut chunk).await.expect("the whole chunk");
        if self.framing == Framing::Chunked {
            assert_eq!(self.line().await, "", "the end of a chunk");
        }
        if length == 0 || self.framing != Framing::Chunked {
            self.framing = Framing::Length(0);
        }
        (length > 0).then_some(chunk)
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).await.expect("a line of text");
        assert!(line.ends_with("\r\n"), "the connection ended within {line:?}");
        line.truncate(line.len() - 2);
        line
    }

    /// Whether the server closes the connection without another byte. Waits until either happens.
    pub async fn is_closed(&mut self) -> bool {
        // A reset is an end as well.
        self.stream.fill_buf().await.map_or(true, <[u8]>::is_empty)
    }

    /// Says that nothing more will be sent, and goes on reading.
    ///
    /// # Panics
    /// If the connection is closed already.
    pub async fn finish(&mut self) {
        self.stream.shutdown().await.expect("an open connection");
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("framing", &self.framing).finish_non_exhaustive()
    }
}
