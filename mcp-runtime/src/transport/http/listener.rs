//! Where connections come from.

use std::{fmt::Debug, future::Future, io, net::SocketAddr};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
};

/// A source of connections: TCP as it is, or with TLS inside, or anything else that makes byte streams.
pub trait Listener: Send + 'static {
    /// One connection.
    type Io: AsyncRead + AsyncWrite + Unpin + Send + 'static;
    /// Who is at its other end.
    type Address: Debug + Send;

    /// Waits for the next connection. Whatever a connection needs before it can be used (a TLS handshake, say) is
    /// better done elsewhere: while this waits, nobody else is accepted.
    ///
    /// # Errors
    /// An error ends nothing: it is logged, and the next connection is waited for, a second later if the error does
    /// not come from one connection alone.
    fn accept(&mut self) -> impl Future<Output = io::Result<(Self::Io, Self::Address)>> + Send;

    /// Its own address, if it has one that others can reach it at. An unchosen admission is allowed on loopback only.
    fn local_address(&self) -> Option<SocketAddr>;
}

impl Listener for TcpListener {
    type Io = tokio::net::TcpStream;
    type Address = SocketAddr;

    async fn accept(&mut self) -> io::Result<(Self::Io, SocketAddr)> {
        let (stream, address) = Self::accept(self).await?;
        // A chunk of events is one write; waiting for more would only delay it.
        stream.set_nodelay(true)?;
        Ok((stream, address))
    }

    fn local_address(&self) -> Option<SocketAddr> {
        self.local_addr().ok()
    }
}
