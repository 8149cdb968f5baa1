//! What a client says of itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
