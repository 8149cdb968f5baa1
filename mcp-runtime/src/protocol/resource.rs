//! Resources as data: their contents, links to them, and the icons that stand for things.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::content::Annotations;
use super::json;

/// The contents of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceContents {
    /// The resource's URI.
    pub uri: String,
    /// The media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Text or bytes.
    #[serde(flatten)]
    pub body: ResourceBody,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// The text or the bytes of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes in base64.
    Blob(String),
}

impl ResourceContents {
    /// Text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(uri.into(), ResourceBody::Text(text.into()))
    }

    /// Bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::new(uri.into(), ResourceBody::Blob(STANDARD.encode(bytes)))
    }

    fn new(uri: String, body: ResourceBody) -> Self {
        Self { uri, mime_type: None, body, meta: Map::new() }
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Appends the contents as JSON.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"uri":"#);
        json::write_string(out, &self.uri);
        if let Some(mime_type) = &self.mime_type {
            out.extend_from_slice(br#","mimeType":"#);
            json::write_string(out, mime_type);
        }
        let body = match &self.body {
            ResourceBody::Text(text) => {
                out.extend_from_slice(br#","text":"#);
                text
            }
            ResourceBody::Blob(base64) => {
                out.extend_from_slice(br#","blob":"#);
                base64
            }
        };
        json::write_string(out, body);
        json::write_meta(out, &self.meta);
        out.push(b'}');
    }
}

/// A resource with its contents, as a block of content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents.
    pub resource: ResourceContents,
    /// Hints for its use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// A resource that the client may read, as a block of content. It need not be in any list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceLink {
    /// The resource's URI.
    pub uri: String,
    /// The resource's name.
    pub name: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the resource is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The size in bytes, before any encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Images that stand for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Hints for its use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

impl ResourceLink {
    /// A link with what it needs; the other fields can be set.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), ..Self::default() }
    }
}

/// An image that stands for something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// Where the image is: an `https:` or `data:` URI.
    pub src: String,
    /// The media type, if the image's own is missing or too general.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The sizes that it has: `48x48`, or `any`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// The background that it is made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<IconTheme>,
}

impl Icon {
    /// An icon with what it needs; the other fields can be set.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), ..Self::default() }
    }
}

/// The background that an icon is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IconTheme {
    /// A light background.
    Light,
    /// A dark background.
    Dark,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn contents_are_written_as_serde_does_and_read_back() {
        let mut with_everything = ResourceContents::blob("x://b", [0, 255]).with_mime_type("image/png");
        with_everything.meta.insert("k".to_owned(), json!({"v": null}));
        let cases = [
            (ResourceContents::text("x://a", "\u{1}"), json!({"uri": "x://a", "text": "\u{1}"})),
            (
                with_everything,
                json!({"uri": "x://b", "mimeType": "image/png", "blob": "AP8=", "_meta": {"k": {"v": null}}}),
            ),
        ];
        for (contents, value) in cases {
            let mut out = Vec::new();
            contents.write_json(&mut out);
            assert_eq!(serde_json::from_slice::<Value>(&out).unwrap(), value);
            assert_eq!(serde_json::to_value(&contents).unwrap(), value);
            assert_eq!(serde_json::from_value::<ResourceContents>(value).unwrap(), contents);
        }
    }

    #[test]
    fn contents_have_text_or_bytes() {
        assert!(serde_json::from_value::<ResourceContents>(json!({"uri": "x://a"})).is_err());
    }

    #[test]
    fn a_link_and_its_icon_use_the_names_of_the_specification() {
        let mut link = ResourceLink::new("x://a", "a");
        link.mime_type = Some("text/plain".to_owned());
        link.size = Some(3);
        let mut icon = Icon::new("https://example.com/i.png");
        icon.mime_type = Some("image/png".to_owned());
        icon.sizes.push("48x48".to_owned());
        icon.theme = Some(IconTheme::Dark);
        link.icons.push(icon);
        let icon = json!({
            "src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark",
        });
        let value =
            json!({"uri": "x://a", "name": "a", "mimeType": "text/plain", "size": 3, "icons": [icon]});
        assert_eq!(serde_json::to_value(&link).unwrap(), value);
        assert_eq!(serde_json::from_value::<ResourceLink>(value).unwrap(), link);
    }
}
