//! Standard input and output, each on a thread of its own.
//!
//! A read from a terminal or pipe can't be interrupted. tokio's pool waits for its threads at the end of the runtime;
//! a thread of our own just ends with the process.

use std::{
    io::{self, Read, Write},
    pin::Pin,
    sync::mpsc as blocking,
    task::{Context, Poll, ready},
    thread,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::{mpsc, oneshot},
};

use super::lines;
use crate::engine::{Live, Phase};

/// How many bytes are read or written at once.
const PIECE: usize = 64 << 10;

/// Serves an endpoint over standard input and output, until the input ends or the server drains; and then until all
/// that was asked is answered, or the server has stopped. The end of the input is the beginning of the shutdown.
///
/// # Errors
/// If a stream breaks, or nobody reads the output for `write_timeout`.
pub(crate) async fn serve(endpoint: &Live) -> io::Result<()> {
    serve_streams(endpoint, io::stdin(), io::stdout()).await
}

async fn serve_streams(
    endpoint: &Live,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let (input, output) = (Input::open(input)?, Output::open(output)?);
    let drain = || {
        endpoint.now().shared.lifecycle.advance(Phase::Draining);
    };
    lines::serve(endpoint, input, output, drain).await
}

/// What a thread has read.
struct Input {
    pieces: mpsc::Receiver<io::Result<Vec<u8>>>,
    piece: io::Cursor<Vec<u8>>,
}

impl Input {
    fn open(mut input: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, pieces) = mpsc::channel(1);
        thread::Builder::new().name("mcp-stdin".to_owned()).spawn(move || {
            let mut buffer = vec![0; PIECE];
            loop {
                let piece = match input.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(length) => Ok(buffer[..length].to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = piece.is_err();
                if sender.blocking_send(piece).is_err() || failed {
                    break;
                }
            }
        })?;
        Ok(Self { pieces, piece: io::Cursor::default() })
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let read = self.piece.read(buffer.initialize_unfilled())?;
            if read > 0 {
                buffer.advance(read);
                return Poll::Ready(Ok(()));
            }
            match ready!(self.pieces.poll_recv(cx)) {
                Some(piece) => self.piece = io::Cursor::new(piece?),
                None => return Poll::Ready(Ok(())),
            }
        }
    }
}

/// What a thread is to write: a piece at a time, so that it can be told how far it came.
struct Output {
    pieces: blocking::Sender<Piece>,
    /// The piece that is being written.
    writing: Option<oneshot::Receiver<io::Result<()>>>,
}

struct Piece {
    bytes: Vec<u8>,
    written: oneshot::Sender<io::Result<()>>,
}

impl Output {
    fn open(mut output: impl Write + Send + 'static) -> io::Result<Self> {
        let (pieces, queue) = blocking::channel::<Piece>();
        thread::Builder::new().name("mcp-stdout".to_owned()).spawn(move || {
            for Piece { bytes, written } in queue {
                // Nobody listens once the connection has been given up.
                let _ = written.send(output.write_all(&bytes).and_then(|()| output.flush()));
            }
        })?;
        Ok(Self { pieces, writing: None })
    }
}

impl AsyncWrite for Output {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.as_mut().poll_flush(cx))?;
        let bytes = bytes[..bytes.len().min(PIECE)].to_vec();
        let (length, (written, writing)) = (bytes.len(), oneshot::channel());
        if self.pieces.send(Piece { bytes, written }).is_err() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        self.writing = Some(writing);
        Poll::Ready(Ok(length))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(writing) = &mut self.writing else { return Poll::Ready(Ok(())) };
        let written = ready!(Pin::new(writing).poll(cx));
        self.writing = None;
        // The thread ends early only by a panic of the stream that it writes to.
        Poll::Ready(written.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::{io::BufRead, time::Duration};

    use super::*;
    use crate::transport::samples;

    /// Runs a server over pipes, beside a client that blocks as another process would.
    async fn served<T: Send + 'static>(
        endpoint: &Live,
        client: impl FnOnce(io::PipeWriter, io::BufReader<io::PipeReader>) -> T + Send + 'static,
    ) -> (io::Result<()>, T) {
        let (stdin, to_server) = io::pipe().unwrap();
        let (from_server, stdout) = io::pipe().unwrap();
        let client = tokio::task::spawn_blocking(|| client(to_server, io::BufReader::new(from_server)));
        let (served, client) = tokio::join!(serve_streams(endpoint, stdin, stdout), client);
        (served, client.unwrap())
    }

    fn read(from_server: &mut impl BufRead) -> String {
        let mut line = String::new();
        from_server.read_line(&mut line).unwrap();
        line
    }

    #[tokio::test]
    async fn the_end_of_the_input_is_the_end_of_the_server() {
        let (engine, _) = samples::engine(|_| ());
        let long = "x".repeat(3 * PIECE);
        let message = samples::call(1, "echo", &serde_json::json!({ "text": long }));
        let (served, answer) = served(&engine, move |mut to_server, mut from_server| {
            to_server.write_all(message.as_bytes()).unwrap();
            // Without its line feed, the last message is one all the same.
            to_server.write_all(message.trim_end().replacen(":1,", ":2,", 1).as_bytes()).unwrap();
            drop(to_server);
            let answers = (read(&mut from_server), read(&mut from_server));
            assert_eq!(read(&mut from_server), "", "nothing follows");
            answers
        })
        .await;
        served.unwrap();
        assert_eq!(answer.0.matches(&long).count(), 1);
        assert_eq!(answer.1.matches(&long).count(), 1);
        assert_eq!(engine.now().shared.lifecycle.phase(), Phase::Draining);
    }

    #[tokio::test]
    async fn a_blocked_read_does_not_keep_the_server() {
        let (engine, _) = samples::engine(|_| ());
        let (stdin, to_server) = io::pipe().unwrap();
        let serving = serve_streams(&engine, stdin, io::sink());
        let shutdown = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            engine.now().shared.lifecycle.advance(Phase::Draining);
        };
        let ended =
            tokio::time::timeout(Duration::from_secs(10), async { tokio::join!(serving, shutdown).0 });
        ended.await.expect("it ends while its input is open").unwrap();
        drop(to_server);
    }

    #[tokio::test]
    async fn a_client_may_read_slowly() {
        let (engine, _) = samples::engine(|limits| limits.write_timeout = Duration::from_millis(1500));
        let message = samples::call(1, "echo", &serde_json::json!({ "text": "x".repeat(20 * PIECE) }));
        let (served, read) = served(&engine, move |mut to_server, mut from_server| {
            to_server.write_all(message.as_bytes()).unwrap();
            drop(to_server);
            let (mut piece, mut read) = (vec![0; PIECE], 0);
            while let length @ 1.. = from_server.read(&mut piece).unwrap() {
                read += length;
                thread::sleep(Duration::from_millis(100));
            }
            read
        })
        .await;
        served.unwrap();
        assert!(read > 20 * PIECE, "{read} bytes");
    }

    #[tokio::test]
    async fn an_output_that_nobody_reads_ends_the_server() {
        let (engine, _) = samples::engine(|limits| limits.write_timeout = Duration::from_millis(100));
        let message = samples::call(1, "echo", &serde_json::json!({ "text": "x".repeat(1 << 20) }));
        let (unread, stdout) = io::pipe().unwrap();
        let serving = serve_streams(&engine, io::Cursor::new(message), stdout);
        let ended = tokio::time::timeout(Duration::from_secs(10), serving).await;
        assert_eq!(ended.expect("it gives up").unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(unread);
    }

    #[tokio::test]
    async fn failures_of_the_streams_are_told() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("cut"))
            }
        }
        let (engine, _) = samples::engine(|_| ());
        let error = serve_streams(&engine, Broken, io::sink()).await.unwrap_err();
        assert_eq!(error.to_string(), "cut");

        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (engine, _) = samples::engine(|_| ());
        let error = serve_streams(&engine, &b"no message\n"[..], Full).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
