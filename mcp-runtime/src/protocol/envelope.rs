//! One message from a client: the one parse.

use std::borrow::Cow;
use std::fmt;

use serde::de::IgnoredAny;

use super::error::{Condition, Fault, ProtocolError};
use super::id::RequestId;
use super::member::Member;
use super::params::Params;
use super::split::{Failure, MAX_DEPTH, Scan, Slot, Split};

/// A request or notification, borrowed from the body that it was parsed from.
#[derive(Clone, Debug)]
pub struct Envelope<'a> {
    /// The id of a request; a notification has none.
    pub id: Option<RequestId>,
    /// The method's name.
    pub method: Cow<'a, str>,
    /// The parameters, taken apart.
    pub params: Params<'a>,
}

impl<'a> Envelope<'a> {
    /// Parses a body.
    ///
    /// The body is scanned once; arguments and other values that are not needed yet keep their text. Nested values
    /// are checked for duplicate keys and depth all the same.
    ///
    /// # Errors
    ///
    /// [`Condition::Parse`] for what is not JSON or nests too deeply, [`Condition::InvalidRequest`] for what is not
    /// one valid request or notification, with all faults.
    pub fn parse(body: &'a [u8]) -> Result<Self, EnvelopeError> {
        let text = std::str::from_utf8(body).map_err(EnvelopeError::parse)?;
        let mut scan = Scan::new(text);
        let mut message = Member::Absent;
        scan.split(&mut message).map_err(|failure| EnvelopeError::scan(failure, text))?;
        match message {
            Member::Value(message) => Message::validate(message, scan.faults),
            other => {
                let fault = other.into_required("", "one request or notification, as an object").err();
                Err(EnvelopeError::invalid(None, fault.into_iter().chain(scan.faults).collect()))
            }
        }
    }
}

/// Why a body is not an [`Envelope`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvelopeError {
    /// [`Condition::Parse`] or [`Condition::InvalidRequest`].
    pub condition: Condition,
    /// The id of the request, if it could be read.
    pub id: Option<RequestId>,
    /// Everything that is wrong.
    pub faults: Vec<Fault>,
}

impl EnvelopeError {
    fn parse(cause: impl fmt::Display) -> Self {
        Self { condition: Condition::Parse, id: None, faults: vec![Fault::new("", cause.to_string())] }
    }

    fn scan(failure: Failure, text: &str) -> Self {
        match failure {
            Failure::Value(error) => Self::parse(error),
            Failure::TooDeep(at) => {
                Self::parse(format_args!("nested deeper than {MAX_DEPTH} containers at {at}"))
            }
            // Read once more by who knows to say what is wrong with it, and where.
            Failure::Syntax => match serde_json::from_str::<IgnoredAny>(text) {
                Err(error) => Self::parse(error),
                Ok(_) => Self::parse("not JSON"),
            },
        }
    }

    fn invalid(id: Option<RequestId>, faults: Vec<Fault>) -> Self {
        Self { condition: Condition::InvalidRequest, id, faults }
    }
}

impl From<EnvelopeError> for ProtocolError {
    fn from(error: EnvelopeError) -> Self {
        let message = match error.condition {
            Condition::Parse => "the body is not JSON",
            _ => "the body is not a valid request or notification",
        };
        Self::new(error.condition, message).with_faults(error.faults)
    }
}

/// The members of a message, before they are known to make a valid one.
#[derive(Default)]
struct Message<'a> {
    jsonrpc: Member<Cow<'a, str>>,
    id: Member<RequestId>,
    method: Member<Cow<'a, str>>,
    params: Member<Params<'a>>,
    /// Whether it has a member that only responses have.
    answers: bool,
}

impl<'a> Split<'a> for Message<'a> {
    fn member(&mut self, key: &str, slot: Slot<'_, 'a>) -> Result<(), Failure> {
        match key {
            "jsonrpc" => self.jsonrpc = slot.text()?,
            "id" => self.id = slot.read(|raw| RequestId::from_json(raw.get()).ok())?,
            "method" => self.method = slot.text()?,
            "params" => {
                let text = slot.split(&mut self.params)?;
                if let Member::Value(params) = &mut self.params {
                    params.present = true;
                    params.text = Some(text);
                }
            }
            other => {
                self.answers |= matches!(other, "result" | "error");
                slot.raw()?;
            }
        }
        Ok(())
    }
}

impl<'a> Message<'a> {
    /// Adds the faults of the message as a whole to the duplicate keys that were found while it was scanned.
    fn validate(self, mut faults: Vec<Fault>) -> Result<Envelope<'a>, EnvelopeError> {
        // An id that stands twice names no request, and that of a response is not one of the client's.
        let nameless = self.is_response() || faults.iter().any(|fault| fault.at == "/id");
        faults.extend(self.version_fault());
        faults.extend(self.id.optional("/id", "a string or an integer").err());
        faults.extend(self.method_fault());
        faults.extend(self.params.optional("/params", "an object").err());
        let id = self.id.into_value().filter(|_| !nameless);
        match self.method {
            Member::Value(method) if faults.is_empty() => {
                let params = match self.params {
                    Member::Value(params) => params,
                    _ => Params::default(),
                };
                Ok(Envelope { id, method, params })
            }
            _ => Err(EnvelopeError::invalid(id, faults)),
        }
    }

    fn version_fault(&self) -> Option<Fault> {
        match self.jsonrpc.required("/jsonrpc", "\"2.0\"") {
            Ok(version) if version == "2.0" => None,
            Ok(_) => Some(Fault::new("/jsonrpc", "expected \"2.0\"")),
            Err(fault) => Some(fault),
        }
    }

    fn is_response(&self) -> bool {
        self.method.is_absent() && self.answers
    }

    fn method_fault(&self) -> Option<Fault> {
        if self.is_response() {
            return Some(Fault::new("", "a response: only requests and notifications are accepted"));
        }
        self.method.required("/method", "a string").err()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;
    use serde_json::{Map, Value, json};

    use super::super::samples;
    use super::*;

    const CALL: &str = r#"{
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "get_weather",
            "arguments": {"location": "Seattle, WA", "days": [1, 2]},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "ExampleClient", "version": "1.0.0"},
                "io.modelcontextprotocol/clientCapabilities": {},
                "progressToken": "p"
            }
        }
    }"#;

    fn parse(body: &str) -> Result<Envelope<'_>, EnvelopeError> {
        Envelope::parse(body.as_bytes())
    }

    /// The condition and the faults as text.
    fn refused(body: &str) -> (Condition, Vec<String>) {
        let error = parse(body).unwrap_err();
        (error.condition, error.faults.iter().map(ToString::to_string).collect())
    }

    fn invalid(body: &str) -> Vec<String> {
        let (condition, faults) = refused(body);
        assert_eq!(condition, Condition::InvalidRequest, "{body}");
        faults
    }

    #[test]
    fn a_call_is_taken_apart() {
        let envelope = parse(CALL).unwrap();
        assert_eq!((envelope.id, &*envelope.method), (Some(1.into()), "tools/call"));
        let params = envelope.params;
        assert_eq!(params.name.value().unwrap(), "get_weather");
        let arguments = params.arguments.value().unwrap();
        assert_eq!(arguments.get("location").unwrap().get(), "\"Seattle, WA\"");
        assert_eq!(arguments.get("days").unwrap().get(), "[1, 2]");
        let meta = params.meta.value().unwrap();
        assert_eq!(meta.protocol_version.value().unwrap(), "2026-07-28");
        assert_eq!(meta.client_capabilities.value().unwrap().get(), "{}");
        assert_eq!(meta.progress_token.value(), Some(&"p".into()));
        assert!(params.meta_faults().is_empty());
        assert!(params.present && params.uri.is_absent());
    }

    #[test]
    fn everything_without_escapes_is_borrowed() {
        let envelope = parse(CALL).unwrap();
        assert!(matches!(envelope.method, Cow::Borrowed(_)));
        assert!(matches!(envelope.params.name, Member::Value(Cow::Borrowed(_))));
    }

    #[test]
    fn a_notification_has_no_id_and_params_may_be_absent() {
        let envelope = parse(r#"{"method":"notifications/cancelled","jsonrpc":"2.0"}"#).unwrap();
        assert_eq!(envelope.id, None);
        assert!(!envelope.params.present);
        assert!(parse(r#"{"method":"m","jsonrpc":"2.0","params":{}}"#).unwrap().params.present);
    }

    #[test]
    fn escaped_keys_are_the_same_keys() {
        let envelope =
            parse(r#"{"json\u0072pc":"2.\u0030","method":"a\/b","params":{"n\u0061me":"\n"}}"#).unwrap();
        assert_eq!(envelope.method, "a/b");
        assert_eq!(envelope.params.name.value().unwrap(), "\n");
    }

    #[test]
    fn what_is_not_json_is_a_parse_error() {
        for body in
            ["", " ", "{", "nul", "{}{}", "{} x", "{\"a\":1,}", "{'a':1}", "\"\t\"", "[1,]", "\u{feff}{}"]
        {
            assert_eq!(parse(body).unwrap_err().condition, Condition::Parse, "{body:?}");
        }
        assert_eq!(Envelope::parse(b"{\"a\":\"\xff\"}").unwrap_err().condition, Condition::Parse);
        let error = parse(r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#).unwrap_err();
        assert_eq!((error.condition, error.id), (Condition::Parse, None));
    }

    #[test]
    fn whitespace_around_the_message_is_fine() {
        assert!(parse(" \r\n\t{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n ").is_ok());
    }

    #[test]
    fn only_an_object_is_a_message() {
        for (body, found) in [
            ("null", "null"),
            ("true", "a boolean"),
            ("-1", "a number"),
            ("1", "a number"),
            ("1.5", "a number"),
            (r#""a""#, "a string"),
            (r#""\n""#, "a string"),
            ("[]", "an array"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, "an array"),
        ] {
            let fault = format!("expected one request or notification, as an object, found {found}");
            assert_eq!(invalid(body), [fault], "{body}");
        }
    }

    #[test]
    fn all_faults_of_a_message_are_told_together() {
        assert_eq!(
            invalid(r#"{"jsonrpc":"1.0","id":null,"method":7,"params":[],"x":{"y":1,"y":1}}"#),
            [
                "/x/y: duplicate key",
                "/jsonrpc: expected \"2.0\"",
                "/id: expected a string or an integer, found null",
                "/method: expected a string, found a number",
                "/params: expected an object, found an array",
            ]
        );
        assert_eq!(invalid("{}").len(), 2);
    }

    #[test]
    fn ids_are_strings_or_integers() {
        for id in ["null", "1.5", "1e2", "true", "[1]", "{}"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            assert_eq!(invalid(&body).len(), 1, "{id}");
            assert_eq!(parse(&body).unwrap_err().id, None);
        }
        for id in ["0", "-5", r#""""#, r#""a""#, "18446744073709551616"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            assert_eq!(parse(&body).unwrap().id.unwrap().to_string(), id);
        }
    }

    #[test]
    fn params_are_an_object() {
        for params in ["null", "[]", "1", "\"a\"", "false"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
            assert_eq!(invalid(&body).len(), 1, "{params}");
        }
    }

    #[test]
    fn a_readable_id_is_kept_in_the_error() {
        let error = parse(r#"{"jsonrpc":"2.0","params":3,"id":"x"}"#).unwrap_err();
        assert_eq!(error.id, Some("x".into()));
        let error = parse(r#"{"jsonrpc":"2.0","id":1,"method":"m","id":2}"#).unwrap_err();
        assert_eq!(error.id, None, "an id that stands twice names no request");
    }

    #[test]
    fn responses_are_refused() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#,
        ] {
            assert_eq!(invalid(body), ["a response: only requests and notifications are accepted"]);
            assert_eq!(parse(body).unwrap_err().id, None, "it names a request of the server's");
        }
    }

    #[test]
    fn duplicates_are_found_in_every_part() {
        for (body, at) in [
            (r#"{"jsonrpc":"2.0","method":"m","method":"m"}"#, "/method"),
            (r#"{"jsonrpc":"2.0","method":"m","params":{"name":"a","name":"a"}}"#, "/params/name"),
            (r#"{"jsonrpc":"2.0","method":"m","params":{"_meta":{"a":1,"\u0061":1}}}"#, "/params/_meta/a"),
            (r#"{"jsonrpc":"2.0","method":"m","params":{"arguments":{"a":1,"a":1}}}"#, "/params/arguments/a"),
            (
                r#"{"jsonrpc":"2.0","method":"m","params":{"arguments":{"a":{"b":1,"b":1}}}}"#,
                "/params/arguments/a/b",
            ),
            (
                r#"{"jsonrpc":"2.0","method":"m","params":{"arguments":[{"b":1,"b":1}]}}"#,
                "/params/arguments/0/b",
            ),
            (r#"{"jsonrpc":"2.0","method":"m","params":{"ref":{"type":1,"type":1}}}"#, "/params/ref/type"),
            (r#"{"jsonrpc":"2.0","method":"m","x":{"a":[{"b":1,"b":1}]}}"#, "/x/a/0/b"),
        ] {
            assert_eq!(invalid(body), [format!("{at}: duplicate key")], "{body}");
        }
    }

    #[test]
    fn several_duplicates_are_all_told() {
        let body =
            r#"{"jsonrpc":"2.0","method":"m","params":{"a":{"k":1,"k":2},"b":[{"k":1,"k":2}],"c":1,"c":2}}"#;
        let faults =
            ["/params/a/k: duplicate key", "/params/b/0/k: duplicate key", "/params/c: duplicate key"];
        assert_eq!(invalid(body), faults);
    }

    #[test]
    fn depth_is_bounded_wherever_it_is() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        // How many containers are around the place that is filled.
        for (outer, frame) in [
            (1, r#"{"jsonrpc":"2.0","method":"m","x":@}"#),
            (2, r#"{"jsonrpc":"2.0","method":"m","params":{"x":@}}"#),
            (3, r#"{"jsonrpc":"2.0","method":"m","params":{"arguments":{"x":@}}}"#),
            (3, r#"{"jsonrpc":"2.0","method":"m","params":{"_meta":{"x":@}}}"#),
            (4, r#"{"jsonrpc":"2.0","method":"m","params":{"context":{"arguments":{"x":@}}}}"#),
        ] {
            assert!(parse(&frame.replace('@', &nested(MAX_DEPTH - outer))).is_ok(), "{frame}");
            let (condition, faults) = refused(&frame.replace('@', &nested(MAX_DEPTH - outer + 1)));
            assert_eq!(condition, Condition::Parse, "{frame}");
            assert!(faults[0].contains("nested deeper than 128"), "{faults:?}");
        }
        assert_eq!(refused(&nested(MAX_DEPTH)).0, Condition::InvalidRequest);
        assert_eq!(refused(&nested(MAX_DEPTH + 1)).0, Condition::Parse);
        assert_eq!(refused(&nested(1_000_000)).0, Condition::Parse);
    }

    #[test]
    fn an_error_becomes_an_answer_with_its_faults() {
        let error = ProtocolError::from(parse("{}").unwrap_err());
        assert_eq!(error.condition(), Condition::InvalidRequest);
        let faults = error.data().unwrap()["faults"].as_array().unwrap();
        assert_eq!(faults[1], json!({"at": "/method", "message": "missing: expected a string"}));
        assert_eq!(ProtocolError::from(parse("").unwrap_err()).condition(), Condition::Parse);
    }

    /// A valid message with any arguments and metadata.
    fn message() -> impl Strategy<Value = Value> {
        let id = prop_oneof![any::<i64>().prop_map(Value::from), any::<String>().prop_map(Value::from)];
        let object = || {
            samples::value().prop_map(|value| match value {
                Value::Object(members) => members,
                other => Map::from_iter([("other".to_owned(), other)]),
            })
        };
        (id, ".{0,10}", object(), object(), object()).prop_map(|(id, method, arguments, meta, mut others)| {
            others.retain(|key, _| key != "arguments" && key != "_meta");
            let mut params = json!({"arguments": arguments, "_meta": meta, "name": method});
            params.as_object_mut().unwrap().extend(others);
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        })
    }

    /// What the rules say of a body that is JSON without duplicate keys.
    fn is_valid(message: &Value) -> bool {
        let Value::Object(members) = message else {
            return false;
        };
        members.get("jsonrpc") == Some(&json!("2.0"))
            && members.get("method").is_some_and(Value::is_string)
            && members.get("id").is_none_or(|id| id.is_string() || id.is_i64() || id.is_u64())
            && members.get("params").is_none_or(Value::is_object)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn a_message_round_trips(message in message(), pretty: bool) {
            let body = if pretty { format!("{message:#}") } else { message.to_string() };
            let envelope = parse(&body).unwrap();
            prop_assert_eq!(envelope.id.unwrap().to_string(), message["id"].to_string());
            prop_assert_eq!(&*envelope.method, message["method"].as_str().unwrap());
            let written = |write: &dyn Fn(&mut Vec<u8>)| {
                let mut out = Vec::new();
                write(&mut out);
                serde_json::from_slice::<Value>(&out).unwrap()
            };
            let params = &message["params"];
            let arguments = envelope.params.arguments.into_value().unwrap();
            prop_assert_eq!(&written(&|out| arguments.write_json(out)), &params["arguments"]);
            let meta = envelope.params.meta.into_value().unwrap();
            prop_assert_eq!(&serde_json::from_str::<Value>(meta.text().get()).unwrap(), &params["_meta"]);
        }

        #[test]
        fn a_key_doubled_anywhere_is_refused(message in message(), pick: Index) {
            let pointer = pick.get(&samples::keys(&message)).clone();
            let body = samples::with_key_doubled(&message, &pointer);
            let error = parse(&body).unwrap_err();
            prop_assert_eq!(error.condition, Condition::InvalidRequest);
            prop_assert!(error.faults.contains(&Fault::new(pointer, "duplicate key")), "{:?}", error.faults);
        }

        #[test]
        fn any_change_of_a_member_is_judged_by_the_rules(
            message in message(),
            key in "jsonrpc|id|method|params|x",
            value in prop::option::of(samples::value()),
        ) {
            let mut message = message;
            match value {
                Some(value) => message[&key] = value,
                None => drop(message.as_object_mut().unwrap().remove(&key)),
            }
            prop_assert_eq!(parse(&message.to_string()).is_ok(), is_valid(&message), "{}", message);
        }

        #[test]
        fn any_json_is_judged_by_the_rules(value in samples::value()) {
            let error = parse(&value.to_string()).err().map(|error| error.condition);
            prop_assert_eq!(error, (!is_valid(&value)).then_some(Condition::InvalidRequest));
        }

        #[test]
        fn no_bytes_make_it_panic(body: Vec<u8>, text in "[\\[\\]{}\":,\\\\ a1.u-]{0,60}") {
            let _ = Envelope::parse(&body);
            let _ = parse(&text);
        }

        #[test]
        fn no_damage_makes_it_panic(message in message(), at: Index, byte: u8, end: Index) {
            let mut body = message.to_string().into_bytes();
            let at = at.index(body.len());
            body[at] = byte;
            let _ = Envelope::parse(&body);
            body.truncate(end.index(body.len()));
            prop_assert_eq!(Envelope::parse(&body).unwrap_err().condition, Condition::Parse);
        }
    }
}
