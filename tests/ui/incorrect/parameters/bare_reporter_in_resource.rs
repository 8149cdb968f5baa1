#![allow(unused_variables)]

use mcp_runtime::prelude::*;

#[mcp_resource(uri = "catalog://parts/{id}")]
async fn part(id: String, State(progress): State<u8>, reporter: ProgressReporter) -> Result<Text, ResourceError> {
    Ok(Text::new(id))
}

fn main() {}
