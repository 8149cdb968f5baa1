use mcp_runtime::prelude::*;

#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
struct Catalog;

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Page(u32);

trait Named {
    type Name;
}

impl Named for Catalog {
    type Name = String;
}

#[mcp_endpoint]
impl Catalog {
    const LIMIT: u32 = 10;

    fn first_page() -> Page {
        Page(0)
    }

    fn schema() -> serde_json::Value {
        serde_json::json!({ "type": "object" })
    }

    #[mcp_tool(input_schema = Self::schema, extra_arguments = "ignore")]
    async fn anything(Args(all): Args<serde_json::Map<String, serde_json::Value>>) -> Json<usize> {
        Json(all.len())
    }

    #[mcp_tool]
    async fn search(
        #[mcp(default = Self::LIMIT)] limit: u32,
        #[mcp(default = Self::first_page())] page: Page,
        name: <Self as Named>::Name,
        State(catalog): State<std::sync::Arc<Self>>,
    ) -> Result<Json<Page>, ToolError> {
        let _: &Self = &catalog;
        Ok(Json(Page(limit + page.0 + name.len() as u32)))
    }
}

fn main() {}
