//! The messages of `subscriptions/listen` (specification: `basic/patterns/subscriptions`).

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::value::RawValue;

use super::error::Fault;
use super::id::RequestId;
use super::json;
use super::meta::keys;
use super::raw::Raw;

/// What an endpoint can tell its clients about: the four families of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeKind {
    /// The list of tools: `notifications/tools/list_changed`.
    Tools,
    /// The list of prompts: `notifications/prompts/list_changed`.
    Prompts,
    /// The lists of resources and templates: `notifications/resources/list_changed`.
    Resources,
    /// The content of single resources: `notifications/resources/updated`.
    Updates,
}

impl ChangeKind {
    /// Those that are about lists.
    pub(crate) const LISTS: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Updates];
}

/// What a client wants to hear of: `params.notifications` of `subscriptions/listen`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListenFilter<'a> {
    /// `toolsListChanged`
    pub tools: bool,
    /// `promptsListChanged`
    pub prompts: bool,
    /// `resourcesListChanged`
    pub resources: bool,
    /// `resourceSubscriptions`, as the client wrote them.
    pub uris: Vec<Cow<'a, str>>,
}

impl<'a> ListenFilter<'a> {
    /// Reads the text of an object. Members that the specification does not name are ignored.
    ///
    /// # Errors
    /// Every member that is of the wrong type.
    pub fn read(notifications: Raw<'a>) -> Result<Self, Vec<Fault>> {
        let members: BTreeMap<Cow<'a, str>, &'a RawValue> = serde_json::from_str(notifications.get())
            .map_err(|error| vec![Fault::new("/params/notifications", error.to_string())])?;
        let (mut filter, mut faults) = (Self::default(), Vec::new());
        for (name, value) in members {
            let flag = match &*name {
                "toolsListChanged" => &mut filter.tools,
                "promptsListChanged" => &mut filter.prompts,
                "resourcesListChanged" => &mut filter.resources,
                "resourceSubscriptions" => {
                    filter.uris = uris(value, &mut faults);
                    continue;
                }
                _ => continue,
            };
            match serde_json::from_str(value.get()) {
                Ok(asked) => *flag = asked,
                Err(_) => faults.push(wrong(&format!("/params/notifications/{name}"), "a boolean", value)),
            }
        }
        if faults.is_empty() { Ok(filter) } else { Err(faults) }
    }
}

fn wrong(at: &str, expected: &str, found: &RawValue) -> Fault {
    Fault::new(at, format!("expected {expected}, found {}", Raw::from(found).kind()))
}

fn uris<'a>(value: &'a RawValue, faults: &mut Vec<Fault>) -> Vec<Cow<'a, str>> {
    const AT: &str = "/params/notifications/resourceSubscriptions";
    let Ok(items) = serde_json::from_str::<Vec<&'a RawValue>>(value.get()) else {
        faults.push(wrong(AT, "an array of strings", value));
        return Vec::new();
    };
    let mut uris = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        match Raw::from(item).text() {
            Some(uri) => uris.push(uri),
            None if faults.len() < Fault::MOST => {
                faults.push(wrong(&format!("{AT}/{index}"), "a string", item));
            }
            None => break,
        }
    }
    uris
}

/// Appends `"_meta":{…}` with the id of the subscription.
fn write_tag(out: &mut Vec<u8>, id: &RequestId) {
    out.extend_from_slice(br#""_meta":{""#);
    out.extend_from_slice(keys::SUBSCRIPTION_ID.as_bytes());
    out.extend_from_slice(br#"":"#);
    id.write_json(out);
    out.push(b'}');
}

fn write_notification(
    out: &mut Vec<u8>,
    method: &[&str],
    id: &RequestId,
    members: impl FnOnce(&mut Vec<u8>),
) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"notifications/"#);
    method.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    out.extend_from_slice(br#"","params":{"#);
    write_tag(out, id);
    members(out);
    out.extend_from_slice(b"}}");
}

/// Appends the acknowledgement of a subscription: what it honours of what was asked.
pub fn write_acknowledged(out: &mut Vec<u8>, id: &RequestId, honoured: &ListenFilter<'_>) {
    write_notification(out, &["subscriptions/acknowledged"], id, |out| {
        out.extend_from_slice(br#","notifications":{"#);
        let start = out.len();
        let next = |out: &mut Vec<u8>, name: &str| {
            if out.len() > start {
                out.push(b',');
            }
            json::write_string(out, name);
            out.push(b':');
        };
        for (name, honoured) in [
            ("toolsListChanged", honoured.tools),
            ("promptsListChanged", honoured.prompts),
            ("resourcesListChanged", honoured.resources),
        ] {
            if honoured {
                next(out, name);
                out.extend_from_slice(b"true");
            }
        }
        if !honoured.uris.is_empty() {
            next(out, "resourceSubscriptions");
            for (index, uri) in honoured.uris.iter().enumerate() {
                out.push(if index == 0 { b'[' } else { b',' });
                json::write_string(out, uri);
            }
            out.push(b']');
        }
        out.push(b'}');
    });
}

/// Appends `notifications/{list}/list_changed`.
pub fn write_list_changed(out: &mut Vec<u8>, id: &RequestId, list: &str) {
    write_notification(out, &[list, "/list_changed"], id, |_| ());
}

/// Appends `notifications/resources/updated`.
pub fn write_resource_updated(out: &mut Vec<u8>, id: &RequestId, uri: &str) {
    write_notification(out, &["resources/updated"], id, |out| {
        out.extend_from_slice(br#","uri":"#);
        json::write_string(out, uri);
    });
}

/// Appends the result of a subscription that the server ends.
pub fn write_listen_result(out: &mut Vec<u8>, id: &RequestId) {
    super::write_response(id, out, |out| {
        out.extend_from_slice(br#"{"resultType":"complete","#);
        write_tag(out, id);
        out.push(b'}');
    });
}

/// Appends `notifications/cancelled`, which follows the result on a channel that subscriptions share
/// (specification: `basic/patterns/cancellation`).
pub fn write_cancelled(out: &mut Vec<u8>, id: &RequestId) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#);
    id.write_json(out);
    out.extend_from_slice(b"}}");
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Value {
        let mut out = Vec::new();
        write(&mut out);
        serde_json::from_slice(&out).unwrap()
    }

    fn read(filter: &Value) -> Result<(bool, bool, bool, Vec<String>), Vec<String>> {
        let raw = serde_json::value::to_raw_value(filter).unwrap();
        match ListenFilter::read(Raw::from(&*raw)) {
            Ok(filter) => {
                let uris = filter.uris.iter().map(ToString::to_string).collect();
                Ok((filter.tools, filter.prompts, filter.resources, uris))
            }
            Err(faults) => {
                Err(faults.iter().map(|fault| format!("{}: {}", fault.at, fault.message)).collect())
            }
        }
    }

    #[test]
    fn a_filter_has_four_families_and_ignores_the_rest() {
        let nothing = Ok((false, false, false, Vec::new()));
        assert_eq!(read(&json!({})), nothing);
        assert_eq!(read(&json!({ "toolsListChanged": false, "taskIds": [1], "": null })), nothing);
        let all = json!({
            "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
            "resourceSubscriptions": ["x:\"a", "x:b"],
        });
        assert_eq!(read(&all), Ok((true, true, true, vec!["x:\"a".to_owned(), "x:b".to_owned()])));
    }

    #[test]
    fn every_member_of_the_wrong_type_is_named() {
        let wrong = json!({
            "toolsListChanged": "yes", "promptsListChanged": null, "resourcesListChanged": 1,
            "resourceSubscriptions": ["x:a", 7, null],
        });
        assert_eq!(
            read(&wrong).unwrap_err(),
            [
                "/params/notifications/promptsListChanged: expected a boolean, found null",
                "/params/notifications/resourceSubscriptions/1: expected a string, found a number",
                "/params/notifications/resourceSubscriptions/2: expected a string, found null",
                "/params/notifications/resourcesListChanged: expected a boolean, found a number",
                "/params/notifications/toolsListChanged: expected a boolean, found a string",
            ]
        );
        let faults = read(&json!({ "resourceSubscriptions": "x:a" })).unwrap_err();
        assert_eq!(
            faults,
            ["/params/notifications/resourceSubscriptions: expected an array of strings, found a string"]
        );
    }

    #[test]
    fn every_message_carries_the_exact_id() {
        for (id, expected) in [(RequestId::from(7), json!(7)), ("l\"7".into(), json!("l\"7"))] {
            let tag = json!({ "io.modelcontextprotocol/subscriptionId": expected });
            let honoured =
                ListenFilter { tools: true, uris: vec!["x:a".into(), "x:b".into()], ..Default::default() };
            assert_eq!(
                written(|out| write_acknowledged(out, &id, &honoured)),
                json!({
                    "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                    "params": {
                        "_meta": tag,
                        "notifications": { "toolsListChanged": true, "resourceSubscriptions": ["x:a", "x:b"] },
                    },
                })
            );
            assert_eq!(
                written(|out| write_acknowledged(out, &id, &ListenFilter::default()))["params"],
                json!({ "_meta": tag, "notifications": {} })
            );
            assert_eq!(
                written(|out| write_list_changed(out, &id, "tools")),
                json!({
                    "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": { "_meta": tag },
                })
            );
            assert_eq!(
                written(|out| write_resource_updated(out, &id, "x:\"")),
                json!({
                    "jsonrpc": "2.0", "method": "notifications/resources/updated",
                    "params": { "_meta": tag, "uri": "x:\"" },
                })
            );
            assert_eq!(
                written(|out| write_listen_result(out, &id)),
                json!({ "jsonrpc": "2.0", "id": expected, "result": { "resultType": "complete", "_meta": tag } })
            );
            assert_eq!(
                written(|out| write_cancelled(out, &id)),
                json!({
                    "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": expected },
                })
            );
        }
    }
}
