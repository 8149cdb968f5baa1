//! A server with connections: at a TCP port, or within the process, where time can be paused.

use std::{future, io, net::SocketAddr};

use mcp_runtime::{
    McpServer,
    prelude::{ServeError, ServerHandle, anonymous},
    server::ServerBuilder,
    subscription::Subscriptions,
    transport::http::Listener,
};
use tokio::{
    io::{DuplexStream, duplex},
    net::TcpListener,
    sync::mpsc,
    task::JoinHandle,
};

use crate::{Connection, Message, Reply};

/// A server that is served, until it is dropped.
#[derive(Debug)]
pub struct Served {
    door: Door,
    handle: ServerHandle,
    subscriptions: Subscriptions,
    task: JoinHandle<Result<(), ServeError>>,
}

#[derive(Debug)]
enum Door {
    Tcp(SocketAddr),
    Pipes(mpsc::UnboundedSender<io::Result<DuplexStream>>),
}

impl Served {
    /// Serves at a port of its own.
    ///
    /// # Panics
    /// If the server can't be built.
    pub async fn start(builder: ServerBuilder) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        Self::serve(build(builder), listener, Door::Tcp(address))
    }

    /// Serves pipes within the process.
    ///
    /// # Panics
    /// If the server can't be built.
    #[must_use]
    pub fn in_memory(builder: ServerBuilder) -> Self {
        let (door, pipes) = mpsc::unbounded_channel();
        let server = build(builder.admission(anonymous()).allowed_hosts(["localhost"]));
        Self::serve(server, Pipes(pipes), Door::Pipes(door))
    }

    fn serve(server: McpServer, listener: impl Listener, door: Door) -> Self {
        let (handle, subscriptions) = (server.handle(), server.subscriptions());
        let task = tokio::spawn(server.serve_with(listener));
        Self { door, handle, subscriptions, task }
    }

    /// Its handle.
    #[must_use]
    pub fn handle(&self) -> ServerHandle {
        self.handle.clone()
    }

    /// Its subscribers.
    #[must_use]
    pub fn subscriptions(&self) -> Subscriptions {
        self.subscriptions.clone()
    }

    /// Where it listens.
    ///
    /// # Panics
    /// If it serves no TCP port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        match self.door {
            Door::Tcp(address) => address,
            Door::Pipes(_) => panic!("served in memory"),
        }
    }

    /// Opens a connection.
    pub async fn connect(&self) -> Connection {
        match &self.door {
            Door::Tcp(address) => Connection::open(*address).await,
            Door::Pipes(_) => self.connect_with_buffer(64 << 10),
        }
    }

    /// Opens a connection in memory that takes so many bytes before its reader has read them.
    #[must_use]
    pub fn connect_with_buffer(&self, bytes: usize) -> Connection {
        Connection::new(self.pipe(bytes))
    }

    /// Opens a pipe in memory.
    ///
    /// # Panics
    /// If it serves a TCP port.
    #[must_use]
    pub fn pipe(&self, bytes: usize) -> DuplexStream {
        let (ours, theirs) = duplex(bytes);
        self.accepts(Ok(theirs));
        ours
    }

    /// Lets the server fail to accept a connection.
    pub fn fail_to_accept(&self, error: io::Error) {
        self.accepts(Err(error));
    }

    fn accepts(&self, accepted: io::Result<DuplexStream>) {
        let Door::Pipes(door) = &self.door else {
            panic!("served over TCP");
        };
        // With nobody to take it the connection is closed at once.
        let _ = door.send(accepted);
    }

    /// Sends a message over a connection of its own, and reads the whole response.
    pub async fn send(&self, message: &Message) -> Reply {
        let mut connection = self.connect().await;
        connection.send(message).await;
        connection.reply().await
    }

    /// Waits until it has stopped serving.
    ///
    /// # Errors
    /// What `serve_with` returned.
    ///
    /// # Panics
    /// If it panicked.
    pub async fn ended(mut self) -> Result<(), ServeError> {
        (&mut self.task).await.expect("the server does not panic")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn build(builder: ServerBuilder) -> McpServer {
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

/// Connections that come from within the process.
struct Pipes(mpsc::UnboundedReceiver<io::Result<DuplexStream>>);

impl Listener for Pipes {
    type Io = DuplexStream;
    type Address = &'static str;

    async fn accept(&mut self) -> io::Result<(DuplexStream, &'static str)> {
        match self.0.recv().await {
            Some(accepted) => Ok((accepted?, "a pipe")),
            None => future::pending().await,
        }
    }

    fn local_address(&self) -> Option<SocketAddr> {
        None
    }
}
