//! Building a server: what is wrong is told before it serves, all at once, with its place and the way out.

mod addresses;
mod limits;
mod reach;
mod schemas;
mod selection;
mod state;

use mcp_runtime::{McpServer, prelude::Endpoint, registry::BuildFault, server::ServerBuilder};
use mcp_tests::build_error;

/// Everything that is wrong with a server.
fn faults(builder: ServerBuilder) -> Vec<BuildFault> {
    build_error(builder).faults().to_vec()
}

/// Everything that is wrong with an endpoint.
fn faults_of(endpoint: Endpoint) -> Vec<BuildFault> {
    faults(McpServer::builder().endpoint(endpoint))
}

/// The one fault, which names an item and a line of one of these files, and says these things.
#[track_caller]
fn assert_one(faults: &[BuildFault], item: &str, says: &[&str]) {
    let [fault] = faults else { panic!("not one fault: {faults:#?}") };
    assert_fault(fault, item, says);
}

#[track_caller]
fn assert_fault(fault: &BuildFault, item: &str, says: &[&str]) {
    let place = fault.place.as_deref().unwrap_or_default();
    assert!(place.starts_with(&format!("`{item}` (")), "{item}: {fault}");
    let line = place.trim_end_matches(')').rsplit(':').next().and_then(|line| line.parse::<u32>().ok());
    assert!(place.contains("tests/registry/") && line.is_some(), "no place in a file: {fault}");
    for part in says {
        assert!(fault.message.contains(part), "{part}: {fault}");
    }
}
