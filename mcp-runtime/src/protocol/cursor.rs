//! Cursors of our own list pages.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A list that is given out in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// `tools/list`
    Tools,
    /// `prompts/list`
    Prompts,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    ResourceTemplates,
}

/// The text is not a cursor of the list that it was sent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidCursor;

impl fmt::Display for InvalidCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a cursor of this list")
    }
}

impl std::error::Error for InvalidCursor {}

/// Which list (1 byte), position (8), checksum (4).
const BYTES: usize = 13;
const CHECKED: usize = 9;

/// Where in a list the next page begins, as a text that clients send back and don't look into.
///
/// It is not signed: whoever makes one up gets a page of a list that is theirs to read anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cursor {}

impl Cursor {
    /// The longest text that is looked at, in bytes.
    pub const MAX_BYTES: usize = 4096;

    /// The cursor of the page that begins after `position` entries; always the same text.
    pub fn encode(position: usize, list: ListKind) -> String {
        let mut bytes = [0; BYTES];
        bytes[0] = tag(list);
        bytes[1..CHECKED].copy_from_slice(&(position as u64).to_be_bytes());
        let check = checksum(&bytes[..CHECKED]);
        bytes[CHECKED..].copy_from_slice(&check.to_be_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The position in `list` that a cursor stands for.
    ///
    /// # Errors
    ///
    /// [`InvalidCursor`] for a text that is damaged, made up, or a cursor of another list.
    pub fn decode(text: &str, list: ListKind) -> Result<usize, InvalidCursor> {
        if text.len() > Self::MAX_BYTES {
            return Err(InvalidCursor);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidCursor)?;
        let bytes: [u8; BYTES] = bytes.try_into().map_err(|_| InvalidCursor)?;
        let [kind, position @ .., c0, c1, c2, c3] = bytes;
        if kind != tag(list) || checksum(&bytes[..CHECKED]) != u32::from_be_bytes([c0, c1, c2, c3]) {
            return Err(InvalidCursor);
        }
        usize::try_from(u64::from_be_bytes(position)).map_err(|_| InvalidCursor)
    }
}

const fn tag(list: ListKind) -> u8 {
    match list {
        ListKind::Tools => b't',
        ListKind::Prompts => b'p',
        ListKind::Resources => b'r',
        ListKind::ResourceTemplates => b'u',
    }
}

/// FNV-1a: tells a damaged cursor from a good one.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LISTS: [ListKind; 4] =
        [ListKind::Tools, ListKind::Prompts, ListKind::Resources, ListKind::ResourceTemplates];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn a_cursor_round_trips_in_its_own_list_only(position: usize, made in 0..4_usize, read in 0..4_usize) {
            let text = Cursor::encode(position, LISTS[made]);
            let expected = if made == read { Ok(position) } else { Err(InvalidCursor) };
            prop_assert_eq!(Cursor::decode(&text, LISTS[read]), expected);
        }

        #[test]
        fn a_changed_character_is_noticed(position: usize, at: prop::sample::Index, new in "[A-Za-z0-9_-]") {
            let text = Cursor::encode(position, ListKind::Tools);
            let at = at.index(text.len());
            let changed = format!("{}{new}{}", &text[..at], &text[at + 1..]);
            prop_assume!(changed != text);
            prop_assert_eq!(Cursor::decode(&changed, ListKind::Tools), Err(InvalidCursor));
        }

        #[test]
        fn any_other_text_is_refused(text: String) {
            prop_assert_eq!(Cursor::decode(&text, ListKind::Prompts), Err(InvalidCursor));
        }
    }

    #[test]
    fn equal_positions_have_equal_texts_that_are_safe_in_urls() {
        let text = Cursor::encode(1_000, ListKind::Resources);
        assert_eq!(text, Cursor::encode(1_000, ListKind::Resources));
        assert!(
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')),
            "{text}"
        );
    }

    #[test]
    fn a_longer_or_shorter_text_is_refused() {
        let text = Cursor::encode(5, ListKind::Tools);
        for wrong in
            [String::new(), format!("{text}AAAA"), text[..text.len() - 4].to_owned(), format!("{text}=")]
        {
            assert_eq!(Cursor::decode(&wrong, ListKind::Tools), Err(InvalidCursor), "{wrong}");
        }
        assert_eq!(Cursor::decode(&"A".repeat(1 << 20), ListKind::Tools), Err(InvalidCursor));
    }
}
