//! Lines of bounded length from a byte stream.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// How much is read at once.
const CHUNK: usize = 64 << 10;

/// Splits a byte stream into lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
    limit: usize,
    state: State,
}

#[derive(Debug)]
enum State {
    /// What has come of the next line.
    Collecting(Vec<u8>),
    /// The line is too long, and nobody wants the rest of it.
    Skipping,
}

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// All of it.
    Whole(Vec<u8>),
    /// Longer than `limit` bytes: it was not kept.
    TooLong { limit: usize },
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of at most `limit` bytes.
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self { input: BufReader::with_capacity(CHUNK, input), limit, state: State::Collecting(Vec::new()) }
    }

    /// The next line that is not blank; `None` at the end. Dropping the future loses nothing.
    ///
    /// A carriage return before the line feed is not part of the line. The last line may lack its end.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.input.fill_buf().await?;
            let end = available.iter().position(|byte| *byte == b'\n');
            let read = end.map_or(available.len(), |end| end + 1);
            let ended = end.is_some() || read == 0;
            let part = &available[..end.unwrap_or(read)];
            let line = match &mut self.state {
                State::Skipping if ended => {
                    self.state = State::Collecting(Vec::new());
                    None
                }
                State::Skipping => None,
                // One more byte than the limit may be a carriage return.
                State::Collecting(line) if line.len() + part.len() > self.limit.saturating_add(1) => {
                    self.state = if ended { State::Collecting(Vec::new()) } else { State::Skipping };
                    Some(Line::TooLong { limit: self.limit })
                }
                State::Collecting(line) => {
                    line.extend_from_slice(part);
                    ended.then(|| std::mem::take(line)).and_then(|line| whole(line, self.limit))
                }
            };
            self.input.consume(read);
            if line.is_some() || read == 0 {
                return Ok(line);
            }
        }
    }
}

fn whole(mut line: Vec<u8>, limit: usize) -> Option<Line> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    if line.len() > limit {
        return Some(Line::TooLong { limit });
    }
    (!line.trim_ascii().is_empty()).then_some(Line::Whole(line))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: usize = 8;

    /// All lines, with the input coming in pieces of the given size.
    async fn lines(input: &[u8], piece: usize) -> Vec<Line> {
        let pieces: Vec<Vec<u8>> = input.chunks(piece).map(<[u8]>::to_vec).collect();
        let (reader, mut writer) = tokio::io::simplex(piece);
        let writing = async {
            for piece in pieces {
                tokio::io::AsyncWriteExt::write_all(&mut writer, &piece).await.unwrap();
            }
            tokio::io::AsyncWriteExt::shutdown(&mut writer).await.unwrap();
        };
        let reading = async {
            let mut lines = Lines::new(reader, LIMIT);
            let mut all = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                all.push(line);
            }
            assert_eq!(lines.next().await.unwrap(), None, "the end stays the end");
            all
        };
        tokio::join!(writing, reading).1
    }

    fn whole(line: &str) -> Line {
        Line::Whole(line.into())
    }

    const TOO_LONG: Line = Line::TooLong { limit: LIMIT };

    #[tokio::test]
    async fn lines_come_however_the_input_is_cut() {
        let input = b"one\n\ntwo\r\n \t\r\n12345678\n12345678\r\nlast";
        for piece in [1, 2, 3, 7, 100] {
            let expected = ["one", "two", "12345678", "12345678", "last"].map(whole);
            assert_eq!(lines(input, piece).await, expected, "in pieces of {piece}");
        }
    }

    #[tokio::test]
    async fn a_long_line_is_told_once_and_skipped() {
        let input = b"123456789\na\n123456789\r\nb\n1234567890123456789012345678901234567890\nc\n12345678901234567890";
        for piece in [1, 3, 10, 100] {
            let expected = [TOO_LONG, whole("a"), TOO_LONG, whole("b"), TOO_LONG, whole("c"), TOO_LONG];
            assert_eq!(lines(input, piece).await, expected, "in pieces of {piece}");
        }
    }

    #[tokio::test]
    async fn a_long_line_is_told_before_its_end_and_not_kept() {
        let (reader, mut writer) = tokio::io::duplex(1 << 20);
        let mut lines = Lines::new(reader, LIMIT);
        tokio::io::AsyncWriteExt::write_all(&mut writer, &[b'x'; 1 << 16]).await.unwrap();
        assert_eq!(lines.next().await.unwrap(), Some(TOO_LONG));
        assert!(matches!(lines.state, State::Skipping));
    }

    #[tokio::test]
    async fn a_dropped_future_loses_nothing() {
        let (reader, mut writer) = tokio::io::duplex(64);
        let mut lines = Lines::new(reader, LIMIT);
        for part in ["ab", "cd", "\n"] {
            tokio::select! {
                biased;
                line = lines.next() => panic!("{line:?} came early"),
                () = tokio::task::yield_now() => {}
            }
            tokio::io::AsyncWriteExt::write_all(&mut writer, part.as_bytes()).await.unwrap();
        }
        assert_eq!(lines.next().await.unwrap(), Some(whole("abcd")));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn lines_are_what_a_split_would_give(input in "[a\r\n ]{0,60}", piece in 1..20_usize) {
            let expected: Vec<Line> = input
                .split('\n')
                .map(|line| line.strip_suffix('\r').unwrap_or(line))
                .filter(|line| line.len() > LIMIT || !line.trim().is_empty())
                .map(|line| if line.len() > LIMIT { TOO_LONG } else { whole(line) })
                .collect();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            prop_assert_eq!(runtime.block_on(lines(input.as_bytes(), piece)), expected);
        }
    }
}
