//! The parameters of `initialize`, which opens the revisions of 2025.

use serde_json::{Map, Value};

use super::client::{ClientCapabilities, ClientInfo};
use super::error::Fault;
use super::member::Member;
use super::params::Params;
use super::raw::Raw;

/// What a client says of itself before it asks for anything.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Introduction {
    /// Its description of itself.
    pub info: Option<ClientInfo>,
    /// What it can do.
    pub capabilities: ClientCapabilities,
}

/// The parameters of `initialize`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InitializeParams {
    /// The revision that the client proposes, known or not.
    pub proposed: String,
    /// What the client says of itself.
    pub client: Introduction,
}

impl InitializeParams {
    /// Reads the parameters.
    ///
    /// # Errors
    ///
    /// All faults, if a member is missing or of the wrong type.
    pub fn read(params: &Params<'_>) -> Result<Self, Vec<Fault>> {
        let member = |name| params.other(name);
        let proposed: Member<String> = read(member("protocolVersion"));
        let capabilities: Member<Map<String, Value>> = read(member("capabilities"));
        let info: Member<Map<String, Value>> = read(member("clientInfo"));
        let proposed = proposed.into_required("/params/protocolVersion", "a string");
        let capabilities = capabilities.into_required("/params/capabilities", "an object");
        let info = info.into_required("/params/clientInfo", "an object");
        let named = |name: &str| match info.as_ref().map(|info| info.get(name)) {
            Ok(Some(Value::String(_))) | Err(_) => None,
            Ok(_) => Some(Fault::new(format!("/params/clientInfo/{name}"), "expected a string")),
        };
        let faults = [named("name"), named("version")];
        match (proposed, capabilities, &info, faults) {
            (Ok(proposed), Ok(capabilities), Ok(info), [None, None]) => {
                let info = serde_json::from_value(Value::Object(info.clone())).ok();
                let capabilities = Value::Object(capabilities).into();
                Ok(Self { proposed, client: Introduction { info, capabilities } })
            }
            (proposed, capabilities, _, faults) => {
                let members = [proposed.err(), capabilities.err(), info.err()];
                Err(members.into_iter().chain(faults).flatten().collect())
            }
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(raw: Option<Raw<'_>>) -> Member<T> {
    raw.map_or(Member::Absent, |raw| Member::read(raw, |raw| serde_json::from_str(raw.get()).ok()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Envelope;
    use super::*;

    fn read(params: &Value) -> Result<InitializeParams, Vec<String>> {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
        let envelope = Envelope::parse(body.as_bytes()).unwrap();
        let faults = |faults: Vec<Fault>| faults.iter().map(ToString::to_string).collect();
        InitializeParams::read(&envelope.params).map_err(faults)
    }

    #[test]
    fn a_client_introduces_itself() {
        let params = read(&json!({
            "protocolVersion": "1900-01-01", "capabilities": {"roots": {}}, "extra": 1,
            "clientInfo": {"name": "n", "version": "1", "title": "T"},
        }))
        .unwrap();
        assert_eq!(params.proposed, "1900-01-01");
        assert!(params.client.capabilities.roots());
        let info = params.client.info.unwrap();
        assert_eq!((&*info.name, &*info.version, info.title.as_deref()), ("n", "1", Some("T")));
    }

    #[test]
    fn what_is_odd_beside_name_and_version_is_left_out() {
        let info = json!({"name": "n", "version": "1", "title": 7});
        let params = json!({"protocolVersion": "x", "capabilities": {}, "clientInfo": info});
        assert_eq!(read(&params).unwrap().client.info, None);
    }

    #[test]
    fn all_faults_are_told_together() {
        assert_eq!(
            read(&json!({"capabilities": [], "clientInfo": {"name": 7}})).unwrap_err(),
            [
                "/params/protocolVersion: missing: expected a string",
                "/params/capabilities: expected an object, found an array",
                "/params/clientInfo/name: expected a string",
                "/params/clientInfo/version: expected a string",
            ]
        );
        assert_eq!(read(&json!({})).unwrap_err().len(), 3);
    }
}
