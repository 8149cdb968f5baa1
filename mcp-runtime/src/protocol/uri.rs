//! URIs as sequences of units: a unit is one character, or one percent triplet such as `%20`.

/// The longest URI, in bytes.
pub(super) const MAX_BYTES: usize = 65_534;

/// Whether a text is a URI with a scheme: allowed characters, whole percent triplets, at most 65,534 bytes (RFC 3986).
pub fn is_absolute_uri(text: &str) -> bool {
    text.len() <= MAX_BYTES && has_scheme(text) && units(text).all(|unit| unit.is_some_and(is_uri_unit))
}

/// Whether a text begins with a scheme and a colon.
pub(super) fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// Whether a unit may stand in a URI.
pub(super) fn is_uri_unit(unit: &str) -> bool {
    match unit.as_bytes() {
        [b'%', ..] => true,
        [byte] => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(byte),
        _ => false,
    }
}

/// The units of a text, `None` in place of a `%` that begins no triplet and all that follows.
pub(super) fn units(mut text: &str) -> impl Iterator<Item = Option<&str>> {
    std::iter::from_fn(move || {
        let first = text.chars().next()?;
        let length = if first == '%' { 3 } else { first.len_utf8() };
        let whole = text
            .get(..length)
            .filter(|unit| first != '%' || unit[1..].bytes().all(|b| b.is_ascii_hexdigit()));
        text = &text[whole.map_or(text.len(), str::len)..];
        Some(whole)
    })
}

/// The text with its triplets decoded, if they are whole and the result is UTF-8.
pub(super) fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    for unit in units(text) {
        match unit?.strip_prefix('%') {
            Some(digits) => bytes.push(u8::from_str_radix(digits, 16).ok()?),
            None => bytes.extend_from_slice(unit?.as_bytes()),
        }
    }
    String::from_utf8(bytes).ok()
}

/// Appends a text with everything but unreserved characters as triplets.
pub(super) fn percent_encode(out: &mut String, text: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digits = [byte >> 4, byte & 15].map(|digit| char::from(DIGITS[usize::from(digit)]));
            out.push('%');
            out.extend(digits);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn uris_have_a_scheme() {
        for uri in ["file:///a", "catalog://parts/7?x=1#top", "urn:a:b", "a+b-c.1:x", "x:", "http://[::1]/"] {
            assert!(is_absolute_uri(uri), "{uri}");
        }
        for uri in ["", "a", "/a", "//a/b", ":a", "1a:b", "a_b:c", "ä:b"] {
            assert!(!is_absolute_uri(uri), "{uri}");
        }
    }

    #[test]
    fn uris_have_only_allowed_characters_and_whole_triplets() {
        assert!(is_absolute_uri("x://a%20b%fF"));
        for uri in [
            "x://a b", "x://{a}", "x://ä", "x://世", "x://a\n", "x://a\\", "x://%", "x://%2", "x://%2g",
            "x://%é",
        ] {
            assert!(!is_absolute_uri(uri), "{uri}");
        }
    }

    #[test]
    fn uris_have_a_longest_length() {
        let uri = format!("x:{}", "a".repeat(65_532));
        assert!(is_absolute_uri(&uri));
        assert!(!is_absolute_uri(&(uri + "a")));
    }

    #[test]
    fn triplets_have_to_be_whole_and_utf8_to_be_decoded() {
        assert_eq!(percent_decode("a%2Fb%c3%A9é").as_deref(), Some("a/béé"));
        for text in ["%", "a%4", "%zz", "%ff", "%c3", "%+1"] {
            assert_eq!(percent_decode(text), None, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn what_is_encoded_is_decoded_and_fits_a_uri(text: String) {
            let mut uri = String::from("x:");
            percent_encode(&mut uri, &text);
            prop_assert!(is_absolute_uri(&uri));
            prop_assert_eq!(percent_decode(&uri[2..]), Some(text));
        }

        #[test]
        fn units_put_together_are_the_text(text in "[a%4é/]{0,12}") {
            if let Some(units) = units(&text).collect::<Option<Vec<_>>>() {
                prop_assert_eq!(units.concat(), text);
            }
        }
    }
}
