//! The metadata of a request: `params._meta`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::client::{ClientCapabilities, ClientInfo};
use super::error::Fault;
use super::id::ProgressToken;
use super::initialize::Introduction;
use super::log::LogLevel;
use super::member::Member;
use super::raw::Raw;
use super::split::{Failure, Slot, Split};

/// Keys of `_meta` that the protocol reserves.
pub mod keys {
    /// The revision that a request speaks.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// The client's name and version.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// What the client can do.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The least severe level of log messages that the client wants.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// The token that progress notifications carry.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// The server's name and version, in a result.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The subscription that a notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
}

/// The longest progress token: each notification repeats it.
const MAX_TOKEN_BYTES: usize = 1024;

/// The `_meta` of a request, borrowed from the body.
#[derive(Clone, Debug)]
pub struct Meta<'a> {
    /// The revision that the request speaks.
    pub protocol_version: Member<Cow<'a, str>>,
    /// What the client can do: an object.
    pub client_capabilities: Member<Raw<'a>>,
    /// The client's description of itself: an object.
    pub client_info: Member<Raw<'a>>,
    /// The token that progress notifications carry.
    pub progress_token: Member<ProgressToken>,
    /// The least severe level of log messages that the client wants.
    pub log_level: Member<LogLevel>,
    description: Member<Description<'a>>,
    token_is_long: bool,
    pub(super) text: Raw<'a>,
}

impl Default for Meta<'_> {
    fn default() -> Self {
        Self {
            protocol_version: Member::Absent,
            client_capabilities: Member::Absent,
            client_info: Member::Absent,
            progress_token: Member::Absent,
            log_level: Member::Absent,
            description: Member::Absent,
            token_is_long: false,
            text: Raw::EMPTY_OBJECT,
        }
    }
}

impl<'a> Meta<'a> {
    /// The whole object, with all that is in it, known or not.
    pub fn text(&self) -> Raw<'a> {
        self.text
    }

    /// What of it means something in a request of an older revision: the progress token.
    pub(crate) fn to_legacy(&self) -> Self {
        Self { progress_token: self.progress_token.clone(), text: self.text, ..Self::default() }
    }

    /// Everything that is wrong with the metadata of a request of an older revision.
    pub(super) fn legacy_faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        self.check_token(|fault| faults.extend(fault));
        faults
    }

    fn check_token(&self, mut check: impl FnMut(Option<Fault>)) {
        const AT: &str = "/params/_meta/progressToken";
        check(self.progress_token.optional(AT, "a string or an integer").err());
        if self.token_is_long {
            check(Some(Fault::new(AT, format!("longer than {MAX_TOKEN_BYTES} bytes"))));
        }
    }

    /// Everything that is wrong with the metadata of a modern request.
    pub fn faults(&self) -> Vec<Fault> {
        const LEVELS: &str = "one of debug, info, notice, warning, error, critical, alert, emergency";
        let mut faults = Vec::new();
        let mut check = |fault: Option<Fault>| faults.extend(fault);
        check(
            self.protocol_version
                .required("/params/_meta/io.modelcontextprotocol~1protocolVersion", "a string")
                .err(),
        );
        check(
            self.client_capabilities
                .required("/params/_meta/io.modelcontextprotocol~1clientCapabilities", "an object")
                .err(),
        );
        check(
            self.client_info.optional("/params/_meta/io.modelcontextprotocol~1clientInfo", "an object").err(),
        );
        self.check_token(&mut check);
        check(self.log_level.optional("/params/_meta/io.modelcontextprotocol~1logLevel", LEVELS).err());
        if let Some(description) = self.description.value() {
            description.faults().into_iter().for_each(check);
        }
        faults
    }
}

impl<'a> Split<'a> for Meta<'a> {
    fn member(&mut self, key: &str, slot: Slot<'_, 'a>) -> Result<(), Failure> {
        match key {
            keys::PROTOCOL_VERSION => self.protocol_version = slot.text()?,
            keys::CLIENT_CAPABILITIES => self.client_capabilities = slot.raw_object()?,
            keys::CLIENT_INFO => {
                let text = slot.split(&mut self.description)?;
                self.client_info = self.description.as_ref().map(|_| text);
            }
            keys::PROGRESS_TOKEN => {
                let raw = slot.raw()?;
                self.progress_token = Member::read(raw, |raw| ProgressToken::from_json(raw.get()).ok());
                self.token_is_long = raw.get().len() > MAX_TOKEN_BYTES;
            }
            keys::LOG_LEVEL => self.log_level = slot.read(|raw| serde_json::from_str(raw.get()).ok())?,
            _ => drop(slot.raw()?),
        }
        Ok(())
    }
}

/// What a client has to say of itself, if it says anything.
#[derive(Clone, Debug, Default)]
struct Description<'a> {
    name: Member<Cow<'a, str>>,
    version: Member<Cow<'a, str>>,
}

impl Description<'_> {
    fn faults(&self) -> [Option<Fault>; 2] {
        [
            self.name.required("/params/_meta/io.modelcontextprotocol~1clientInfo/name", "a string").err(),
            self.version
                .required("/params/_meta/io.modelcontextprotocol~1clientInfo/version", "a string")
                .err(),
        ]
    }
}

impl<'a> Split<'a> for Description<'a> {
    fn member(&mut self, key: &str, slot: Slot<'_, 'a>) -> Result<(), Failure> {
        match key {
            "name" => self.name = slot.text()?,
            "version" => self.version = slot.text()?,
            _ => drop(slot.raw()?),
        }
        Ok(())
    }
}

/// The metadata of a request, owned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetaMap {
    entries: Map<String, Value>,
}

impl MetaMap {
    /// Reads the text of a JSON object; anything else is as good as `{}`.
    pub fn from_json(text: &str) -> Self {
        serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default().into()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(key)
    }

    /// All keys and values.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.entries
    }

    /// The client's description of itself.
    pub fn client_info(&self) -> Option<ClientInfo> {
        serde::Deserialize::deserialize(self.get(keys::CLIENT_INFO)?).ok()
    }

    /// What the client can do; nothing, if it doesn't say.
    pub fn client_capabilities(&self) -> ClientCapabilities {
        self.get(keys::CLIENT_CAPABILITIES).cloned().unwrap_or_default().into()
    }

    /// What a modern client says of itself.
    pub(crate) fn introduction(&self) -> Introduction {
        Introduction { info: self.client_info(), capabilities: self.client_capabilities() }
    }

    /// The trace that the request belongs to.
    pub fn trace_context(&self) -> TraceContext<'_> {
        let text = |key| self.get(key).and_then(Value::as_str);
        TraceContext {
            traceparent: text("traceparent"),
            tracestate: text("tracestate"),
            baggage: text("baggage"),
        }
    }
}

impl From<Map<String, Value>> for MetaMap {
    fn from(entries: Map<String, Value>) -> Self {
        Self { entries }
    }
}

/// The trace that a request belongs to, as W3C Trace Context and W3C Baggage write it; not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceContext<'a> {
    /// The trace and the client's span in it.
    pub traceparent: Option<&'a str>,
    /// What tracing systems add.
    pub tracestate: Option<&'a str>,
    /// What the application adds.
    pub baggage: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::super::{Envelope, Params};
    use super::*;

    fn faults_of(meta: &str) -> Vec<String> {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"_meta":{meta}}}}}"#);
        let faults = Envelope::parse(body.as_bytes()).unwrap().params.meta_faults();
        // Every pointer leads to the value it speaks of, or to where that is missing.
        let message: Value = serde_json::from_str(&body).unwrap();
        for fault in &faults {
            let found = message.pointer(&fault.at).is_some();
            assert_eq!(found, !fault.message.starts_with("missing"), "{fault}");
        }
        faults.into_iter().map(|fault| fault.to_string()).collect()
    }

    const VERSION: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    const CAPABILITIES: &str = r#""io.modelcontextprotocol/clientCapabilities":{}"#;

    #[test]
    fn a_progress_token_is_bounded() {
        let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
        let faults = |length| {
            let token = "x".repeat(length);
            faults_of(&format!(r#"{{{VERSION},{capabilities},"progressToken":"{token}"}}"#))
        };
        assert_eq!(faults(1000), [""; 0]);
        assert_eq!(faults(2000).len(), 1);
    }

    #[test]
    fn the_required_fields_are_enough() {
        assert!(faults_of(&format!("{{{VERSION},{CAPABILITIES}}}")).is_empty());
    }

    #[test]
    fn every_missing_field_is_told() {
        assert_eq!(
            faults_of("{}"),
            [
                "/params/_meta/io.modelcontextprotocol~1protocolVersion: missing: expected a string",
                "/params/_meta/io.modelcontextprotocol~1clientCapabilities: missing: expected an object",
            ]
        );
    }

    #[test]
    fn an_absent_or_wrong_meta_is_told_with_what_it_has_to_hold() {
        assert_eq!(Params::default().meta_faults().len(), 3);
        assert_eq!(faults_of("null")[0], "/params/_meta: expected an object, found null");
        assert_eq!(faults_of("[]")[0], "/params/_meta: expected an object, found an array");
    }

    #[test]
    fn every_mistyped_field_is_told() {
        let meta = r#"{"progressToken":1.5,
            "io.modelcontextprotocol/protocolVersion":20260728,
            "io.modelcontextprotocol/clientCapabilities":[],
            "io.modelcontextprotocol/clientInfo":"me",
            "io.modelcontextprotocol/logLevel":"loud"}"#;
        let faults = faults_of(meta);
        assert_eq!(faults.len(), 5, "{faults:?}");
        assert!(faults[0].ends_with("expected a string, found a number"));
        assert!(faults[1].ends_with("expected an object, found an array"));
        assert!(faults[2].ends_with("expected an object, found a string"));
        assert!(faults[3].ends_with("expected a string or an integer, found a number"));
        assert!(faults[4].ends_with("alert, emergency, found a string"));
    }

    #[test]
    fn null_is_not_an_absent_field() {
        let faults = faults_of(&format!(r#"{{{VERSION},{CAPABILITIES},"progressToken":null}}"#));
        assert_eq!(faults, ["/params/_meta/progressToken: expected a string or an integer, found null"]);
    }

    #[test]
    fn a_client_description_needs_a_name_and_a_version() {
        let info = r#""io.modelcontextprotocol/clientInfo":{"name":7,"title":"T"}"#;
        assert_eq!(
            faults_of(&format!("{{{VERSION},{CAPABILITIES},{info}}}")),
            [
                "/params/_meta/io.modelcontextprotocol~1clientInfo/name: expected a string, found a number",
                "/params/_meta/io.modelcontextprotocol~1clientInfo/version: missing: expected a string",
            ]
        );
    }

    #[test]
    fn the_owned_map_has_every_key() {
        let body = br#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"traceparent":"00-ab","baggage":"k=v",
            "tracestate":5,"com.example/x":[1,2],"\u0065scaped":null,
            "io.modelcontextprotocol/clientInfo":{"name":"n","version":"1","extra":true},
            "io.modelcontextprotocol/clientCapabilities":{"roots":{}}}}}"#;
        let envelope = Envelope::parse(body).unwrap();
        let map = MetaMap::from_json(envelope.params.meta.value().unwrap().text().get());
        assert_eq!(map.as_map().len(), 7);
        assert_eq!(map.get("com.example/x"), Some(&serde_json::json!([1, 2])));
        assert_eq!(map.get("escaped"), Some(&Value::Null));
        assert_eq!(map.client_info().unwrap().name, "n");
        assert!(map.client_capabilities().roots());
        let trace = map.trace_context();
        assert_eq!((trace.traceparent, trace.tracestate, trace.baggage), (Some("00-ab"), None, Some("k=v")));
    }

    #[test]
    fn what_is_no_object_is_an_empty_map() {
        for text in ["", "null", "[]", "{"] {
            assert_eq!(MetaMap::from_json(text), MetaMap::default(), "{text}");
        }
        assert_eq!(MetaMap::default().client_info(), None);
        assert!(!MetaMap::default().client_capabilities().sampling());
    }
}
