//! A connection's byte stream: its first bytes are looked at, and a peer that stops reading is given up.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use super::activity::Activity;

/// What every HTTP/2 connection begins with.
const HTTP2_PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The protocol that a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Http1,
    Http2,
}

/// A byte stream whose writes fail once the peer has not read for `write_timeout`.
pub(super) struct Socket<Io> {
    io: Io,
    /// Bytes that were looked at, to be read first.
    first: Vec<u8>,
    given: usize,
    write_timeout: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
    activity: Arc<Activity>,
}

impl<Io: AsyncRead + AsyncWrite + Unpin> Socket<Io> {
    /// Waits for enough bytes to tell the protocol.
    pub(super) async fn open(mut io: Io, write_timeout: Duration) -> io::Result<(Self, Version)> {
        let mut first = Vec::with_capacity(HTTP2_PREFACE.len());
        let version = loop {
            let more = HTTP2_PREFACE.len() - first.len();
            if (&mut io).take(more as u64).read_buf(&mut first).await? == 0 {
                break Version::Http1;
            }
            if !HTTP2_PREFACE.starts_with(&first) {
                break Version::Http1;
            }
            if first.len() == HTTP2_PREFACE.len() {
                break Version::Http2;
            }
        };
        Ok((Self { io, first, given: 0, write_timeout, stalled: None, activity: Arc::default() }, version))
    }

    /// What goes on on this connection.
    pub(super) fn activity(&self) -> Arc<Activity> {
        Arc::clone(&self.activity)
    }

    /// Ends a write that has been pending for too long.
    fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if self.stalled.take().is_some() {
                self.activity.set_blocked(false);
            }
            return written;
        }
        self.activity.set_blocked(true);
        let timeout = self.write_timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(timeout)));
        stalled
            .as_mut()
            .poll(cx)
            .map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read")))
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for Socket<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.given < self.first.len() {
            let rest = &self.first[self.given..];
            let count = rest.len().min(buffer.remaining());
            buffer.put_slice(&rest[..count]);
            self.given += count;
            if self.given == self.first.len() {
                self.first = Vec::new();
                self.given = 0;
                // What else has arrived comes along, as if nobody had looked. Nothing yet is no end.
                let before = buffer.filled().len();
                return match Pin::new(&mut self.io).poll_read(cx, buffer) {
                    Poll::Pending => Poll::Ready(Ok(())),
                    ready if buffer.filled().len() > before => ready,
                    Poll::Ready(_) => Poll::Ready(Ok(())),
                };
            }
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl<Io: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Socket<Io> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        self.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        self.watch(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.io).poll_shutdown(cx);
        self.watch(cx, closed)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(30);

    async fn version(parts: &[&[u8]]) -> (Version, Vec<u8>) {
        let (mut client, server) = duplex(1024);
        let opened = tokio::spawn(async move {
            let (mut socket, version) = Socket::open(server, TIMEOUT).await.unwrap();
            let mut all = Vec::new();
            socket.read_to_end(&mut all).await.unwrap();
            (version, all)
        });
        for part in parts {
            client.write_all(part).await.unwrap();
            tokio::task::yield_now().await;
        }
        drop(client);
        opened.await.unwrap()
    }

    #[tokio::test]
    async fn the_preface_tells_http_2_however_it_arrives_and_no_byte_is_lost() {
        assert_eq!(
            version(&[b"POST / HTTP/1.1\r\n"]).await,
            (Version::Http1, b"POST / HTTP/1.1\r\n".to_vec())
        );
        assert_eq!(version(&[b"P", b"UT /", b" more"]).await, (Version::Http1, b"PUT / more".to_vec()));
        let (first, rest) = HTTP2_PREFACE.split_at(7);
        let (seen, all) = version(&[first, rest, b"frames"]).await;
        assert_eq!((seen, all), (Version::Http2, [&HTTP2_PREFACE[..], b"frames"].concat()));
        assert_eq!(version(&[b"PRI"]).await, (Version::Http1, b"PRI".to_vec()));
        assert_eq!(version(&[]).await, (Version::Http1, Vec::new()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_does_not_read_is_given_up_and_a_slow_one_is_not() {
        let (mut client, server) = duplex(8);
        client.write_all(b"x").await.unwrap();
        let (mut socket, _) = Socket::open(server, TIMEOUT).await.unwrap();
        let writing = tokio::spawn(async move { socket.write_all(&[0; 24]).await });
        for _ in 0..2 {
            tokio::time::advance(TIMEOUT - Duration::from_secs(1)).await;
            client.read_exact(&mut [0; 8]).await.unwrap();
        }
        tokio::task::yield_now().await;
        writing.await.unwrap().unwrap();

        let (_client, server) = duplex(8);
        let (mut socket, _) = {
            let mut io = server;
            io.write_all(b"").await.unwrap();
            (
                Socket {
                    io,
                    first: Vec::new(),
                    given: 0,
                    write_timeout: TIMEOUT,
                    stalled: None,
                    activity: Arc::default(),
                },
                (),
            )
        };
        let began = tokio::time::Instant::now();
        let error = socket.write_all(&[0; 24]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), TIMEOUT);
    }
}
