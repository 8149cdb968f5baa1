//! What a client says of itself.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::resource::Icon;

/// The client's description of itself. It is not verified: show it, log it, decide nothing by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ClientInfo {
    /// The program's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its home page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Images that stand for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
}

/// What a client can do. A capability is declared by an object; any other value declares nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientCapabilities {
    raw: Value,
}

impl ClientCapabilities {
    /// All of it as JSON.
    pub fn raw(&self) -> &Value {
        &self.raw
    }

    /// Whether the client can sample its model.
    pub fn sampling(&self) -> bool {
        self.declares("/sampling")
    }

    /// Whether the model that the client samples can be given tools.
    pub fn sampling_tools(&self) -> bool {
        self.declares("/sampling/tools")
    }

    /// Whether the client can show a form; `elicitation: {}` says so, too.
    pub fn elicitation_form(&self) -> bool {
        self.declares("/elicitation/form")
            || self.raw["elicitation"].as_object().is_some_and(|modes| modes.is_empty())
    }

    /// Whether the client can send its user to a URL.
    pub fn elicitation_url(&self) -> bool {
        self.declares("/elicitation/url")
    }

    /// Whether the client can list its roots.
    pub fn roots(&self) -> bool {
        self.declares("/roots")
    }

    /// The settings of an extension, if the client supports it.
    pub fn extension(&self, name: &str) -> Option<&Value> {
        self.raw.get("extensions")?.get(name).filter(|settings| settings.is_object())
    }

    fn declares(&self, pointer: &str) -> bool {
        self.raw.pointer(pointer).is_some_and(Value::is_object)
    }
}

impl From<Value> for ClientCapabilities {
    fn from(raw: Value) -> Self {
        Self { raw }
    }
}

/// Capabilities of a client that an operation needs, or may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The client samples its model.
    pub sampling: bool,
    /// It can give that model tools.
    pub sampling_tools: bool,
    /// It shows forms to its user.
    pub elicitation: bool,
    /// It sends its user to a URL.
    pub elicitation_url: bool,
    /// It lists its roots.
    pub roots: bool,
}

impl Capabilities {
    /// None of them.
    pub const NONE: Self = Self {
        sampling: false,
        sampling_tools: false,
        elicitation: false,
        elicitation_url: false,
        roots: false,
    };

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Those of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            sampling: self.sampling || other.sampling,
            sampling_tools: self.sampling_tools || other.sampling_tools,
            elicitation: self.elicitation || other.elicitation,
            elicitation_url: self.elicitation_url || other.elicitation_url,
            roots: self.roots || other.roots,
        }
    }

    /// Those of them that a client did not declare.
    #[must_use]
    pub fn missing(self, client: &ClientCapabilities) -> Self {
        Self {
            sampling: self.sampling && !client.sampling(),
            sampling_tools: self.sampling_tools && !client.sampling_tools(),
            elicitation: self.elicitation && !client.elicitation_form(),
            elicitation_url: self.elicitation_url && !client.elicitation_url(),
            roots: self.roots && !client.roots(),
        }
    }

    /// Them as a client would declare them.
    #[must_use]
    pub fn to_json(self) -> Map<String, Value> {
        let mut declared = Map::new();
        if self.sampling || self.sampling_tools {
            declared.insert(
                "sampling".to_owned(),
                if self.sampling_tools { json!({"tools": {}}) } else { json!({}) },
            );
        }
        if self.elicitation || self.elicitation_url {
            let modes = match (self.elicitation, self.elicitation_url) {
                (true, true) => json!({"form": {}, "url": {}}),
                (false, true) => json!({"url": {}}),
                _ => json!({}),
            };
            declared.insert("elicitation".to_owned(), modes);
        }
        if self.roots {
            declared.insert("roots".to_owned(), json!({}));
        }
        declared
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn capabilities(raw: Value) -> ClientCapabilities {
        raw.into()
    }

    #[test]
    fn nothing_is_declared_by_default() {
        for raw in [Value::Null, json!({}), json!([]), json!("sampling")] {
            let client = capabilities(raw);
            assert!(!client.sampling() && !client.roots());
            assert!(!client.elicitation_form() && !client.elicitation_url());
            assert_eq!(client.extension("com.example/x"), None);
        }
    }

    #[test]
    fn an_object_declares_a_capability_and_nothing_else_does() {
        let client = capabilities(json!({"sampling": {}, "roots": {"listChanged": true}}));
        assert!(client.sampling() && client.roots());
        let client = capabilities(json!({"sampling": null, "roots": true}));
        assert!(!client.sampling() && !client.roots());
    }

    #[test]
    fn elicitation_without_modes_means_forms() {
        let modes = |value| {
            let client = capabilities(json!({"elicitation": value}));
            (client.elicitation_form(), client.elicitation_url())
        };
        assert_eq!(modes(json!({})), (true, false));
        assert_eq!(modes(json!({"form": {}})), (true, false));
        assert_eq!(modes(json!({"url": {}})), (false, true));
        assert_eq!(modes(json!({"form": {}, "url": {}})), (true, true));
        assert_eq!(modes(json!(true)), (false, false));
    }

    #[test]
    fn what_is_missing_is_said_as_it_would_be_declared() {
        let all = Capabilities {
            sampling: true,
            sampling_tools: true,
            elicitation: true,
            elicitation_url: true,
            roots: true,
        };
        let declared = |raw| Value::from(all.missing(&capabilities(raw)).to_json());
        assert_eq!(
            declared(json!({})),
            json!({"sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}, "roots": {}})
        );
        assert_eq!(
            declared(json!({"sampling": {}, "elicitation": {}, "roots": {}})),
            json!({"sampling": {"tools": {}}, "elicitation": {"url": {}}})
        );
        let full = json!({"sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}, "roots": {}});
        assert!(all.missing(&capabilities(full)).is_empty());
        let forms = Capabilities { elicitation: true, ..Capabilities::NONE };
        assert_eq!(Value::from(forms.to_json()), json!({"elicitation": {}}));
        assert_eq!(
            forms.and(Capabilities { roots: true, ..Capabilities::NONE }),
            Capabilities { roots: true, ..forms }
        );
    }

    #[test]
    fn extensions_are_found_by_their_name() {
        let client = capabilities(json!({"extensions": {"com.example/x": {"a": 1}, "com.example/y": 3}}));
        assert_eq!(client.extension("com.example/x"), Some(&json!({"a": 1})));
        assert_eq!(client.extension("com.example/y"), None);
    }

    #[test]
    fn a_description_keeps_what_it_knows_and_ignores_the_rest() {
        let raw = json!({"name": "n", "version": "1", "websiteUrl": "https://e.example", "future": 1});
        let info: ClientInfo = serde_json::from_value(raw).unwrap();
        assert_eq!(info.website_url.as_deref(), Some("https://e.example"));
        let written = serde_json::to_value(&info).unwrap();
        assert_eq!(written, json!({"name": "n", "version": "1", "websiteUrl": "https://e.example"}));
    }
}
