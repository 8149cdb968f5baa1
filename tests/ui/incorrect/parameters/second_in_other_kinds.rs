#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://parts/{id}")]
async fn part(first: RequestContext, id: String, second: RequestContext) -> Text {
    Text::new(id)
}

#[mcp_resource_list]
async fn parts(first: CancellationToken, second: CancellationToken) -> ResourcePage {
    ResourcePage::default()
}

#[mcp_completion(prompt = "greet", argument = "name")]
async fn names(first: Option<ProgressReporter>, value: String, second: Option<ProgressReporter>) -> Vec<String> {
    vec![value]
}

fn main() {}
