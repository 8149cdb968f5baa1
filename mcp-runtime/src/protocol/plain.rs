//! Looking through the text of strings for what can't stand for itself there, many bytes at once.

/// How many bytes are looked at together.
pub(super) const BLOCK: usize = u32::BITS as usize;

/// From how many bytes on whole blocks are looked at to find the end of a string: most strings are shorter.
const LONG: usize = 64;

/// Whether a string's text has no byte to escape: looked at without a branch, so in vector instructions.
#[inline(always)]
pub(super) fn is_plain(text: &[u8]) -> bool {
    !text.iter().fold(false, |found, &byte| found | needs_escape(byte))
}

/// Whether a byte can't stand for itself in a string.
pub(super) const fn needs_escape(byte: u8) -> bool {
    // The quote, and everything below the space: with this bit flipped, the quote follows on the control characters.
    (byte ^ 2) <= b' ' || byte == b'\\'
}

/// Where the first byte is, from `start` on, that can't stand for itself: a quote, a backslash, a control character.
pub(super) fn plain_end(bytes: &[u8], start: usize) -> usize {
    let text = bytes.get(start..).unwrap_or_default();
    let near = &text[..text.len().min(LONG)];
    match plain_words(near) {
        LONG => {
            let far = LONG + plain_blocks(&text[LONG..]);
            start + far + plain_words(&text[far..])
        }
        end => start + end,
    }
}

/// How many bytes are plain at the beginning of a text, word by word.
fn plain_words(text: &[u8]) -> usize {
    let (words, rest) = text.as_chunks();
    for (index, word) in words.iter().enumerate() {
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            return index * size_of::<u64>() + found.trailing_zeros() as usize / 8;
        }
    }
    let end = text.len() - rest.len();
    end + rest.iter().take_while(|byte| !needs_escape(**byte)).count()
}

/// How many bytes there are in the plain blocks that a text begins with.
fn plain_blocks(text: &[u8]) -> usize {
    let (blocks, _) = text.as_chunks::<BLOCK>();
    BLOCK * blocks.iter().take_while(|block| is_plain(*block)).count()
}

/// Marks the bytes of a little-endian word that can't stand for themselves. The lowest mark is right; those above it
/// may not be.
const fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    /// Marks the bytes that are less than `limit`.
    const fn below(word: u64, limit: u8) -> u64 {
        word.wrapping_sub(ONES * limit as u64) & !word & (ONES << 7)
    }
    // As in `needs_escape`.
    below(word ^ (ONES * 2), b' ' + 1) | below(word ^ (ONES * b'\\' as u64), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_special_byte_is_found_wherever_it_stands() {
        for byte in 0..=255 {
            for before in [0, 1, 7, 8, 9, 63, 64, 65, 96, 101, 300] {
                for after in [0, 1, 8, 40] {
                    let mut bytes = vec![b'x'; before];
                    bytes.push(byte);
                    bytes.extend(vec![b'\n'; after]);
                    let end = if needs_escape(byte) { before } else { before + 1 };
                    assert_eq!(plain_end(&bytes, 0), end, "{byte} after {before}, before {after}");
                }
            }
        }
        assert_eq!(plain_end(b"\"ab\"", 1), 3);
        assert_eq!(plain_end(b"ab", 5), 5);
    }

    #[test]
    fn quotes_backslashes_and_control_characters_are_special() {
        for byte in 0..=255_u8 {
            let special = byte < b' ' || byte == b'"' || byte == b'\\';
            assert_eq!((needs_escape(byte), is_plain(&[byte])), (special, !special), "{byte}");
        }
    }
}
