//! The one writer of a connection.

use std::{future::Future, io, time::Duration};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
    time::timeout,
};

use super::QUEUE;
use crate::handler::{CancellationReason, CancellationToken};

/// Whole lines on their way to the client.
pub(super) struct Outgoing {
    /// Of the request that they belong to.
    pub(super) token: CancellationToken,
    pub(super) lines: Vec<u8>,
}

impl Outgoing {
    /// Nothing is sent for a request once its client has cancelled it, not even what was queued before.
    fn is_wanted(&self) -> bool {
        self.token.reason() != Some(CancellationReason::ClientCancelled)
    }
}

/// Writes what is queued until the queue ends, all that is there at once.
///
/// # Errors
/// If the output fails, or takes nothing for as long as `patience`.
pub(super) async fn write<W: AsyncWrite + Unpin>(
    mut output: W,
    mut queue: mpsc::Receiver<Outgoing>,
    patience: Duration,
) -> io::Result<()> {
    let mut waiting = Vec::with_capacity(QUEUE);
    while queue.recv_many(&mut waiting, QUEUE).await > 0 {
        let wanted = waiting.drain(..).filter(Outgoing::is_wanted).map(|outgoing| outgoing.lines);
        let Some(lines) = wanted.reduce(|mut all, more| {
            all.extend_from_slice(&more);
            all
        }) else {
            continue;
        };
        let mut rest = &*lines;
        while !rest.is_empty() {
            match within(patience, output.write(rest)).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => rest = &rest[written..],
            }
        }
        within(patience, output.flush()).await?;
    }
    within(patience, output.shutdown()).await
}

async fn within<T>(patience: Duration, step: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(patience, step).await.unwrap_or_else(|_| {
        let message = format!("the client has read nothing for {patience:?}");
        Err(io::Error::new(io::ErrorKind::TimedOut, message))
    })
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, duplex};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn outgoing(lines: &str) -> Outgoing {
        Outgoing { token: CancellationToken::new(), lines: lines.into() }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_queued_goes_out_in_order_and_without_the_cancelled() {
        let (sender, queue) = mpsc::channel(QUEUE);
        let (ours, mut theirs) = duplex(64);
        for lines in ["a\n", "b\nc\n", "d\n"] {
            sender.send(outgoing(lines)).await.unwrap();
        }
        let cancelled = outgoing("never\n");
        cancelled.token.cancel(CancellationReason::ClientCancelled);
        sender.send(cancelled).await.unwrap();
        let late = outgoing("e\n");
        late.token.cancel(CancellationReason::DeadlineExceeded);
        sender.send(late).await.unwrap();
        drop(sender);
        write(ours, queue, PATIENCE).await.unwrap();
        let mut read = String::new();
        theirs.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, "a\nb\nc\nd\ne\n");
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_is_waited_for_and_a_stalled_one_is_not() {
        let (sender, queue) = mpsc::channel(QUEUE);
        let (ours, mut theirs) = duplex(4);
        sender.send(outgoing(&"x".repeat(20))).await.unwrap();
        let began = tokio::time::Instant::now();
        let writing = write(ours, queue, PATIENCE);
        let reading = async {
            let mut four = [0; 4];
            for _ in 0..3 {
                tokio::time::sleep(PATIENCE - Duration::from_secs(1)).await;
                theirs.read_exact(&mut four).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(writing, reading);
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), 3 * (PATIENCE - Duration::from_secs(1)) + PATIENCE);
    }

    #[tokio::test]
    async fn a_closed_output_is_an_error() {
        let (sender, queue) = mpsc::channel(QUEUE);
        let (ours, theirs) = duplex(4);
        drop(theirs);
        sender.send(outgoing("a\n")).await.unwrap();
        assert_eq!(write(ours, queue, PATIENCE).await.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
