//! What tools and prompts say: blocks of text, images, sound and resources.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json;
use super::resource::{EmbeddedResource, ResourceContents, ResourceLink};
use super::revision::Revision;

/// A block of content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// Sound.
    Audio(AudioContent),
    /// A resource with its contents.
    Resource(EmbeddedResource),
    /// A resource that the client may read.
    ResourceLink(ResourceLink),
}

impl Content {
    /// Text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent { text: text.into(), annotations: None, meta: Map::new() })
    }

    /// An image from its bytes.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::image_base64(STANDARD.encode(bytes), mime_type)
    }

    /// An image whose bytes are in base64 already.
    pub fn image_base64(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        let (data, mime_type) = (data.into(), mime_type.into());
        Self::Image(ImageContent { data, mime_type, annotations: None, meta: Map::new() })
    }

    /// Sound from its bytes.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::audio_base64(STANDARD.encode(bytes), mime_type)
    }

    /// Sound whose bytes are in base64 already.
    pub fn audio_base64(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        let (data, mime_type) = (data.into(), mime_type.into());
        Self::Audio(AudioContent { data, mime_type, annotations: None, meta: Map::new() })
    }

    /// A resource with its contents.
    pub fn resource(resource: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource { resource, annotations: None, meta: Map::new() })
    }

    /// A resource that the client may read.
    pub fn link(link: ResourceLink) -> Self {
        Self::ResourceLink(link)
    }

    /// Sets the hints for its use.
    #[must_use]
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        let place = match &mut self {
            Self::Text(content) => &mut content.annotations,
            Self::Image(content) => &mut content.annotations,
            Self::Audio(content) => &mut content.annotations,
            Self::Resource(content) => &mut content.annotations,
            Self::ResourceLink(content) => &mut content.annotations,
        };
        *place = Some(annotations);
        self
    }

    /// Appends the block as JSON, with what a revision knows of it. What may be large is written by hand, the rest by
    /// serde; both agree.
    pub fn write_json(&self, revision: Revision, out: &mut Vec<u8>) {
        match self {
            Self::Text(content) => {
                write_text_member(out, &content.text);
                write_rest(out, content.annotations.as_ref(), &content.meta);
            }
            Self::Image(content) => {
                write_media_members(out, "image", &content.data, &content.mime_type);
                write_rest(out, content.annotations.as_ref(), &content.meta);
            }
            Self::Audio(content) => {
                write_media_members(out, "audio", &content.data, &content.mime_type);
                write_rest(out, content.annotations.as_ref(), &content.meta);
            }
            Self::Resource(content) => {
                out.extend_from_slice(br#"{"type":"resource","resource":"#);
                content.resource.write_json(out);
                write_rest(out, content.annotations.as_ref(), &content.meta);
            }
            Self::ResourceLink(link) if !link.icons.is_empty() && !revision.has_icons() => {
                let link = ResourceLink { icons: Vec::new(), ..link.clone() };
                json::write_serialized(out, &Self::ResourceLink(link));
            }
            Self::ResourceLink(_) => json::write_serialized(out, self),
        }
    }
}

/// Appends a block of nothing but text.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    write_text_member(out, text);
    out.push(b'}');
}

fn write_text_member(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(br#"{"type":"text","text":"#);
    json::write_string(out, text);
}

fn write_media_members(out: &mut Vec<u8>, kind: &str, data: &str, mime_type: &str) {
    out.extend_from_slice(br#"{"type":"#);
    json::write_string(out, kind);
    out.extend_from_slice(br#","data":"#);
    json::write_string(out, data);
    out.extend_from_slice(br#","mimeType":"#);
    json::write_string(out, mime_type);
}

/// Appends what any block may have, and the end of its object.
fn write_rest(out: &mut Vec<u8>, annotations: Option<&Annotations>, meta: &Map<String, Value>) {
    if let Some(annotations) = annotations {
        out.extend_from_slice(br#","annotations":"#);
        json::write_serialized(out, annotations);
    }
    json::write_meta(out, meta);
    out.push(b'}');
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// Text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints for its use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// An image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageContent {
    /// The bytes in base64.
    pub data: String,
    /// The media type.
    pub mime_type: String,
    /// Hints for its use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// Sound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AudioContent {
    /// The bytes in base64.
    pub data: String,
    /// The media type.
    pub mime_type: String,
    /// Hints for its use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// Hints for the use of content and resources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// Whom it is for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// How important it is, from 0 (entirely optional) to 1 (effectively required).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// When it was last changed, as ISO 8601 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// A party to a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

impl PromptMessage {
    /// Said by the person.
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// Said by the model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }

    /// Appends the message as JSON, with what a revision knows of it.
    pub fn write_json(&self, revision: Revision, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"role":"#);
        json::write_serialized(out, &self.role);
        out.extend_from_slice(br#","content":"#);
        self.content.write_json(revision, out);
        out.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// One block of each kind, and its JSON.
    fn blocks() -> Vec<(Content, Value)> {
        vec![
            (Content::text("a\"b\n"), json!({"type": "text", "text": "a\"b\n"})),
            (
                Content::image([1, 2, 3], "image/png"),
                json!({"type": "image", "data": "AQID", "mimeType": "image/png"}),
            ),
            (
                Content::audio([255], "audio/wav"),
                json!({"type": "audio", "data": "/w==", "mimeType": "audio/wav"}),
            ),
            (
                Content::resource(ResourceContents::text("x://a", "A").with_mime_type("text/plain")),
                json!({"type": "resource", "resource": {"uri": "x://a", "mimeType": "text/plain", "text": "A"}}),
            ),
            (
                Content::link(ResourceLink::new("x://a", "a")),
                json!({"type": "resource_link", "uri": "x://a", "name": "a"}),
            ),
        ]
    }

    fn written(content: &Content) -> Value {
        let mut out = Vec::new();
        content.write_json(Revision::LATEST, &mut out);
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn every_block_is_written_as_specified_and_as_serde_does() {
        for (content, value) in blocks() {
            assert_eq!(written(&content), value);
            assert_eq!(serde_json::to_value(&content).unwrap(), value);
        }
    }

    #[test]
    fn every_block_is_read_back() {
        for (content, value) in blocks() {
            assert_eq!(serde_json::from_value::<Content>(value).unwrap(), content);
        }
    }

    #[test]
    fn every_block_can_have_annotations_and_metadata() {
        let annotations = Annotations {
            audience: vec![Role::User, Role::Assistant],
            priority: Some(0.5),
            last_modified: Some("2026-01-12T15:00:58Z".to_owned()),
        };
        let meta = Map::from_iter([("com.example/x".to_owned(), json!([1]))]);
        for (content, mut value) in blocks() {
            let mut content = content.annotations(annotations.clone());
            match &mut content {
                Content::Text(content) => content.meta = meta.clone(),
                Content::Image(content) => content.meta = meta.clone(),
                Content::Audio(content) => content.meta = meta.clone(),
                Content::Resource(content) => content.meta = meta.clone(),
                Content::ResourceLink(content) => content.meta = meta.clone(),
            }
            value["annotations"] = json!({
                "audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-01-12T15:00:58Z",
            });
            value["_meta"] = json!({"com.example/x": [1]});
            assert_eq!(written(&content), value);
            assert_eq!(serde_json::from_value::<Content>(value).unwrap(), content);
        }
    }

    #[test]
    fn a_link_has_icons_where_the_revision_has_them() {
        let mut link = ResourceLink::new("x://a", "a");
        link.icons.push(super::super::Icon::new("https://example.com/i.png"));
        let link = Content::link(link);
        for revision in Revision::ALL {
            let mut out = Vec::new();
            link.write_json(revision, &mut out);
            let value: Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(value.get("icons").is_some(), revision > Revision::V2025_06_18, "{revision}");
            assert_eq!((&value["type"], &value["uri"]), (&json!("resource_link"), &json!("x://a")));
        }
    }

    #[test]
    fn an_unknown_kind_of_block_is_refused() {
        assert!(serde_json::from_value::<Content>(json!({"type": "video", "data": ""})).is_err());
    }

    #[test]
    fn a_message_is_written_as_serde_does() {
        for message in
            [PromptMessage::user("hello"), PromptMessage::assistant(Content::image([0], "image/png"))]
        {
            let mut out = Vec::new();
            message.write_json(Revision::LATEST, &mut out);
            let value: Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(value, serde_json::to_value(&message).unwrap());
            assert_eq!(serde_json::from_value::<PromptMessage>(value).unwrap(), message);
        }
    }
}
