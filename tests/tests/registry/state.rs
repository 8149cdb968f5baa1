//! What handlers need, and nobody provided.

use mcp_runtime::{McpServer, prelude::*};
use mcp_tests::endpoint;

use super::{assert_fault, assert_one, faults, faults_of};

#[derive(Clone)]
struct Stock;

#[derive(Clone)]
struct Prices;

#[test]
fn a_state_that_nobody_provided_is_named() {
    let tool = Tool::new("count").handler(async |State(_): State<Stock>| "x");
    let faults = faults_of(endpoint().tool(tool.clone()));
    assert_one(&faults, "count", &["State<", "Stock>", ".state(value)"]);
    assert!(McpServer::builder().endpoint(endpoint().tool(tool)).state(Stock).build().is_ok());
}

#[test]
fn every_handler_is_told_of_every_state_that_it_lacks() {
    let both = Tool::new("both").handler(async |State(_): State<Stock>, State(_): State<Prices>| "x");
    let list = ResourceList::new().handler(async |State(_): State<Prices>| Vec::<ResourceEntry>::new());
    let faults = faults_of(endpoint().tool(both).resource_list(list));
    let items = [("both", "Stock"), ("both", "Prices"), ("resource list", "Prices")];
    assert_eq!(faults.len(), items.len(), "{faults:#?}");
    for (fault, (item, state)) in faults.iter().zip(items) {
        assert_fault(fault, item, &[state]);
    }
}

#[test]
fn a_second_state_of_one_type_is_refused() {
    let server = McpServer::builder().endpoint(endpoint().tool(Tool::new("a").handler(async || "x")));
    let faults = faults(server.state(7_u8).state(8_u8));
    assert!(faults.len() == 1 && faults[0].message.contains("two values of type `u8`"), "{faults:#?}");
}

/// What declares its needs by itself.
struct Priced;

impl FromInvocation for Priced {
    type Rejection = Rejection;

    async fn from_invocation(invocation: &Invocation) -> Result<Self, Rejection> {
        invocation.state::<Prices>().map(|_| Self).ok_or_else(|| Rejection::internal("no prices"))
    }

    fn needs(needs: &mut Needs) {
        needs.state::<Prices>();
    }
}

#[test]
fn a_type_of_the_applications_own_declares_what_it_needs() {
    let faults = faults_of(endpoint().tool(Tool::new("price").handler(async |_: Priced| "x")));
    assert_one(&faults, "price", &["Prices"]);
}

#[mcp_endpoint(path = "/mcp", name = "shop", version = "1.0.0")]
struct Shop {
    name: &'static str,
}

#[mcp_endpoint]
impl Shop {
    #[mcp_tool]
    async fn name(&self) -> &'static str {
        self.name
    }

    #[mcp_prompt]
    async fn greet() -> &'static str {
        "Hello"
    }
}

#[test]
fn an_endpoint_with_fields_needs_its_instance() {
    let faults = faults(McpServer::builder().select::<Shop>());
    assert_one(&faults, "name", &["takes `&self`", "no instance of `Shop` (", ".endpoint(Shop {"]);
    assert!(McpServer::builder().endpoint(Shop { name: "corner" }).build().is_ok());
}
