//! Resources: text, bytes, and a template.

use mcp_runtime::prelude::*;
use serde::Serialize;

use crate::{Everything, content::PNG};

/// Text that stays the same.
#[mcp_resource(endpoint = Everything, uri = "test://static-text", mime_type = "text/plain")]
async fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

/// Bytes that stay the same.
#[mcp_resource(endpoint = Everything, uri = "test://static-binary", mime_type = "image/png")]
async fn static_binary() -> Blob {
    Blob::new(PNG)
}

/// A resource to watch.
#[mcp_resource(endpoint = Everything, uri = "test://watched-resource", mime_type = "text/plain")]
async fn watched_resource() -> &'static str {
    "Watched resource content."
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    id: String,
    template_test: bool,
    data: String,
}

/// The data of whatever `id`.
#[mcp_resource(endpoint = Everything, uri = "test://template/{id}/data", mime_type = "application/json")]
async fn template_data(id: String) -> Json<Data> {
    let data = format!("Data for ID: {id}");
    Json(Data { id, template_test: true, data })
}
