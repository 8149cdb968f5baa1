//! Tools that answer with each kind of content.

use mcp_runtime::prelude::*;

use crate::Everything;

/// A red pixel.
pub const PNG: &[u8] = &[
    0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, // signature
    0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53,
    0xde, // header
    0, 0, 0, 12, b'I', b'D', b'A', b'T', 0x78, 0xda, 0x63, 0xf8, 0xcf, 0xc0, 0, 0, 3, 1, 1, 0, 0xf7, 3, 0x41,
    0x43, // pixels
    0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82, // end
];

/// Four samples of silence.
const WAV: &[u8] = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x04\0\0\0\x80\x80\x80\x80";

/// Answers with text.
#[mcp_tool(endpoint = Everything, read_only)]
async fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Answers with an image.
#[mcp_tool(endpoint = Everything, read_only)]
async fn test_image_content() -> Content {
    Content::image(PNG, "image/png")
}

/// Answers with sound.
#[mcp_tool(endpoint = Everything, read_only)]
async fn test_audio_content() -> Content {
    Content::audio(WAV, "audio/wav")
}

/// Answers with a resource and its contents.
#[mcp_tool(endpoint = Everything, read_only)]
async fn test_embedded_resource() -> Content {
    let text = "This is an embedded resource content.";
    Content::resource(ResourceContents::text("test://embedded-resource", text).with_mime_type("text/plain"))
}

/// Answers with text, an image, a resource and a link to another.
#[mcp_tool(endpoint = Everything, read_only)]
async fn test_multiple_content_types() -> Vec<Content> {
    let json = ResourceContents::text("test://mixed-content-resource", r#"{"test":"data"}"#);
    vec![
        Content::text("Multiple content types test:"),
        Content::image(PNG, "image/png"),
        Content::resource(json.with_mime_type("application/json")),
        Content::link(ResourceLink::new("test://static-text", "static_text")),
    ]
}

/// Fails.
#[mcp_tool(endpoint = Everything, read_only)]
async fn test_error_handling() -> Result<(), ToolError> {
    Err(ToolError::new("This tool intentionally returns an error for testing"))
}
