//! One spelling for all spellings of a URI.

use super::uri::{MAX_BYTES, is_absolute_uri, units};

/// The normal form of an absolute URI by RFC 3986 §6.2.2: scheme and host in lower case, triplets in upper case and only
/// where they are needed, no `.` and `..` segments. `None` for what is no absolute URI.
///
/// It serves comparison only: a URI that is shown or sent stays as it was written.
pub fn normal_uri(uri: &str) -> Option<String> {
    if is_plainly_normal(uri) {
        return Some(uri.to_owned());
    }
    if !is_absolute_uri(uri) {
        return None;
    }
    let (scheme, rest) = uri.split_once(':')?;
    let mut normal = scheme.to_ascii_lowercase();
    normal.push(':');
    let rest = normal_triplets(rest);
    let (hierarchy, query) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    match hierarchy.strip_prefix("//") {
        Some(after) => {
            let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
            let (user, host) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
            normal.push_str("//");
            normal.push_str(user);
            push_lower(&mut normal, host);
            push_path(&mut normal, path);
        }
        None if hierarchy.starts_with('/') => {
            let mut path = String::new();
            push_path(&mut path, hierarchy);
            // Two slashes would make the path begin with a host.
            normal.push_str(if path.starts_with("//") { "/." } else { "" });
            normal.push_str(&path);
        }
        None => normal.push_str(hierarchy),
    }
    normal.push_str(query);
    Some(normal)
}

/// Whether a URI is in its normal form, as a look at its bytes tells: most are. False where a closer look is needed.
fn is_plainly_normal(uri: &str) -> bool {
    let bytes = uri.as_bytes();
    let scheme = bytes.iter().take_while(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()).count();
    let Some((b':', rest)) = bytes[scheme..].split_first().map(|(byte, rest)| (*byte, rest)) else {
        return false;
    };
    let host = rest.strip_prefix(b"//").unwrap_or_default();
    let host = host.iter().take_while(|byte| !matches!(byte, b'/' | b'?' | b'#'));
    bytes.first().is_some_and(u8::is_ascii_lowercase)
        && uri.len() <= MAX_BYTES
        && !host.clone().any(u8::is_ascii_uppercase)
        && rest.iter().all(|byte| PLAIN[usize::from(*byte)])
        // A segment that begins with a dot might be one of the two that mean another place.
        && !rest.windows(2).any(|pair| pair == b"/.")
}

/// The bytes that may stand in a URI for themselves.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let allowed = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=";
    let mut at = 0;
    while at < allowed.len() {
        plain[allowed[at] as usize] = true;
        at += 1;
    }
    plain
};

/// Decodes triplets of unreserved characters, and writes the others in upper case.
fn normal_triplets(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for unit in units(text).flatten() {
        let decoded = unit.strip_prefix('%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match decoded {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                normal.push(char::from(byte));
            }
            Some(_) => normal.push_str(&unit.to_ascii_uppercase()),
            None => normal.push_str(unit),
        }
    }
    normal
}

/// Appends a host in lower case; triplets stay in upper case.
fn push_lower(out: &mut String, host: &str) {
    for unit in units(host).flatten() {
        if unit.starts_with('%') {
            out.push_str(unit);
        } else {
            out.extend(unit.chars().map(|letter| letter.to_ascii_lowercase()));
        }
    }
}

/// Appends a path that is empty or begins with a slash, its dot segments taken (RFC 3986 §5.2.4).
fn push_path(out: &mut String, path: &str) {
    let start = out.len();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    let parent = out[start..].rfind('/').map_or(start, |at| start + at);
                    out.truncate(parent);
                }
                if last {
                    out.push('/');
                }
            }
            segment => {
                out.push('/');
                out.push_str(segment);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal(uri: &str) -> String {
        normal_uri(uri).unwrap_or_else(|| panic!("{uri} is absolute"))
    }

    #[test]
    fn spellings_of_one_uri_have_one_normal_form() {
        for (uri, expected) in [
            ("file:///a.txt", "file:///a.txt"),
            ("FILE:///a%2etxt", "file:///a.txt"),
            ("HTTP://User@EXAMPLE.com/%7Eada/", "http://User@example.com/~ada/"),
            ("x://h/a/./b/../c", "x://h/a/c"),
            ("x://h/../../a", "x://h/a"),
            ("x://h/a/..", "x://h/"),
            ("x://h/a/.", "x://h/a/"),
            ("x://h", "x://h"),
            ("x://h/a%2fb", "x://h/a%2Fb"),
            ("x://h%c3/A?q=%7e&R=./../#F%61", "x://h%C3/A?q=~&R=./../#Fa"),
            ("urn:Case:%41", "urn:Case:A"),
            ("x:/a/../b", "x:/b"),
            ("x:/..//A", "x:/.//A"),
            ("x:a/../b", "x:a/../b"),
        ] {
            assert_eq!(normal(uri), expected, "{uri}");
        }
    }

    #[test]
    fn a_plain_look_finds_what_a_close_one_does() {
        for uri in
            ["file:///a.txt", "bench://item/7?Q=1#A", "urn:A", "x://user@host/[]", "x9:", "x://h/a.b/..c"]
        {
            assert_eq!(normal(uri), uri);
        }
        assert!(is_plainly_normal("bench://item/7?Q=1#A") && is_plainly_normal("urn:A"));
        for uri in ["", ":a", "9x:a", "X:a", "x", "x://H/", "x:%41", "x:/./a", "x: ", "x:ä", "x://h\u{7f}"] {
            assert!(!is_plainly_normal(uri), "{uri}");
        }
    }

    #[test]
    fn what_is_no_absolute_uri_has_none() {
        for text in ["", "a", "/a", "x://a b", "x:%"] {
            assert_eq!(normal_uri(text), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn a_normal_form_is_a_uri_and_its_own(uri in "[aX]:(//)?[aB%@./?#:]{0,14}(%4[1a]|%2f)?") {
            prop_assert!(!is_plainly_normal(&uri) || is_absolute_uri(&uri));
            if let Some(once) = normal_uri(&uri) {
                prop_assert!(is_absolute_uri(&once), "{}", once);
                prop_assert_eq!(normal_uri(&once), Some(once));
            }
        }
    }
}
