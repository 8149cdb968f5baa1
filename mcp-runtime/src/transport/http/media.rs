//! Media types: what a client sends, and what it accepts.

use http::{HeaderMap, HeaderValue, header};

use crate::{
    engine::{Twice, once},
    protocol::{Condition, ProtocolError},
};

/// Refuses a body that is not JSON.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), ProtocolError> {
    let refuse = |message: &str| Err(ProtocolError::new(Condition::UnsupportedMediaType, message.to_owned()));
    let content_type = match once(headers, &header::CONTENT_TYPE) {
        Ok(Some(content_type)) => content_type,
        Ok(None) => return refuse("the header `Content-Type` is missing: send `application/json`"),
        Err(Twice) => return refuse("the header `Content-Type` comes twice"),
    };
    if content_type == "application/json" {
        return Ok(());
    }
    let Ok(content_type) = content_type.to_str() else {
        return refuse("the header `Content-Type` is no text: send `application/json`");
    };
    let mut parts = content_type.split(';').map(str::trim);
    let json = parts.next().is_some_and(|media| media.eq_ignore_ascii_case("application/json"));
    let utf8 = parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    if json && utf8 { Ok(()) } else { refuse("the body must be `application/json`, in UTF-8") }
}

/// Refuses a client that does not take both kinds of answer.
pub(super) fn check_accept(headers: &HeaderMap) -> Result<(), ProtocolError> {
    if headers.get(header::ACCEPT).is_some_and(|value| value == "application/json, text/event-stream") {
        return Ok(());
    }
    let (mut json, mut events) = (None, None);
    let values = headers.get_all(header::ACCEPT).iter();
    for range in values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')) {
        prefer(&mut json, range, "application", "json");
        prefer(&mut events, range, "text", "event-stream");
    }
    if [json, events].iter().all(|found| found.is_some_and(|(_, accepted)| accepted)) {
        return Ok(());
    }
    let message = "answers are `application/json` or `text/event-stream`: send both in `Accept`";
    Err(ProtocolError::new(Condition::NotAcceptable, message))
}

/// Keeps what the most specific range says of a media type (RFC 9110, section 12.5.1).
fn prefer(found: &mut Option<(u8, bool)>, range: &str, kind: &str, subtype: &str) {
    let mut parts = range.split(';').map(str::trim);
    let Some((range_kind, range_subtype)) = parts.next().and_then(|media| media.split_once('/')) else {
        return;
    };
    let specific = match (range_kind, range_subtype) {
        ("*", "*") => 0,
        (range_kind, "*") if range_kind.eq_ignore_ascii_case(kind) => 1,
        _ if range_kind.eq_ignore_ascii_case(kind) && range_subtype.eq_ignore_ascii_case(subtype) => 2,
        _ => return,
    };
    let refused = parts.any(|parameter| {
        let weight = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
        weight.is_some_and(|weight| weight.trim().parse::<f32>().is_ok_and(|weight| weight <= 0.0))
    });
    if found.is_none_or(|(before, _)| specific >= before) {
        *found = Some((specific, !refused));
    }
}

/// The type of an answer that is one message.
pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// The type of an answer that is a stream.
pub(super) const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &header::HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn json_in_utf8_is_taken() {
        for good in
            ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\"; x=y"]
        {
            assert!(check_content_type(&headers(&header::CONTENT_TYPE, &[good])).is_ok(), "{good}");
        }
        for bad in [
            &["text/plain"][..],
            &["application/json; charset=latin1"],
            &["application/jsonp"],
            &[],
            &["application/json"; 2],
        ] {
            assert!(check_content_type(&headers(&header::CONTENT_TYPE, bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn both_kinds_of_answer_must_be_accepted() {
        for good in [
            &["application/json, text/event-stream"][..],
            &["text/event-stream;q=0.5 , application/json"],
            &["application/json", "text/event-stream"],
            &["*/*"],
            &["application/*, text/*"],
            &["text/html, */*;q=0.1"],
        ] {
            assert!(check_accept(&headers(&header::ACCEPT, good)).is_ok(), "{good:?}");
        }
        for bad in [
            &[][..],
            &["application/json"],
            &["text/event-stream"],
            &["*/*, text/event-stream;q=0"],
            &["application/json, text/event-stream;q=0.0"],
            &["text/event-streams, application/json"],
        ] {
            assert!(check_accept(&headers(&header::ACCEPT, bad)).is_err(), "{bad:?}");
        }
    }
}
