use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://{+id}")]
async fn operator(id: String) -> Text {
    Text::new(id)
}

#[mcp_resource(uri = "catalog://{id}{name}")]
async fn adjacent(id: String) -> Text {
    Text::new(id)
}

#[mcp_resource(uri = "catalog://{id}/{id}")]
async fn repeated(id: String) -> Text {
    Text::new(id)
}

#[mcp_resource(uri = "catalog://{id")]
async fn unclosed(id: String) -> Text {
    Text::new(id)
}

#[mcp_resource(uri = "catalog://id}")]
async fn unopened(id: String) -> Text {
    Text::new(id)
}

#[mcp_resource(uri = "catalog://{}")]
async fn unnamed(id: String) -> Text {
    Text::new(id)
}

#[mcp_resource(uri = "{id}://parts")]
async fn scheme(id: String) -> Text {
    Text::new(id)
}

#[mcp_resource(uri = "catalog://{id:3}")]
async fn modifier(id: String) -> Text {
    Text::new(id)
}

fn main() {}
