//! Strict lints see nothing to complain about in an expansion.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications, single_use_lifetimes)]
#![deny(rust_2018_idioms, unused_lifetimes, unused_results, missing_debug_implementations, let_underscore_drop)]
#![deny(trivial_casts, trivial_numeric_casts, elided_lifetimes_in_paths, variant_size_differences, meta_variable_misuse)]

use mcp_runtime::prelude::*;

/// Spare parts.
#[derive(Debug)]
#[mcp_endpoint(path = "/mcp", name = "catalog", version = "1.0.0")]
pub struct Catalog {
    #[allow(dead_code)]
    name: String,
}

#[mcp_endpoint]
impl Catalog {
    /// Searches.
    #[mcp_tool(read_only)]
    pub async fn search(&self, #[mcp(default = Some(10), header = "Limit")] limit: Option<u32>, query: String) -> String {
        format!("{query}{limit:?}")
    }

    #[mcp_resource(uri = "catalog://parts/{id}")]
    fn part(&self, id: String, progress: Option<ProgressReporter>) -> Text {
        drop(progress);
        Text::new(id)
    }
}

#[mcp_prompt(endpoint = Catalog)]
async fn greet(name: String) -> String {
    name
}

#[mcp_tool(endpoint = Catalog)]
#[deprecated]
async fn old(#[mcp(default)] name: String) -> Result<String, ToolError> {
    Ok(name)
}

#[mcp_resource_list(endpoint = Catalog)]
fn parts(cursor: Option<String>) -> ResourcePage {
    drop(cursor);
    ResourcePage::default()
}

#[mcp_completion(endpoint = Catalog, prompt = "greet", argument = "name")]
async fn names(value: String) -> Vec<String> {
    vec![value]
}

fn main() {}
