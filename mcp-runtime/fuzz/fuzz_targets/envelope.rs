//! The one parse of a request. In `mcp-runtime`: `cargo +nightly fuzz run envelope`.
//!
//! No body makes it panic, whitespace around a body changes nothing, and nothing but whole, single messages pass.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_runtime::__private::parse_envelope;

fuzz_target!(|body: &[u8]| {
    let accepted = parse_envelope(body);
    let padded = [b" \r\n", body, b"\t"].concat();
    assert_eq!(parse_envelope(&padded), accepted);
    if accepted {
        assert!(std::str::from_utf8(body).is_ok());
        let end = body.trim_ascii_end().len();
        assert!(!parse_envelope(&body[..end - 1]), "a part of a message");
        assert!(!parse_envelope(&[b"[", body, b"]"].concat()), "a batch");
        assert!(!parse_envelope(&[body, body].concat()), "two messages");
    }
});
