//! Limits that contradict themselves, and settings that mean nothing.

use std::time::Duration;

use mcp_runtime::{Limits, McpServer, prelude::*, server::ServerBuilder};
use mcp_tests::{endpoint, seconds};

use super::{assert_fault, faults};

fn server() -> ServerBuilder {
    McpServer::builder().endpoint(endpoint().tool(Tool::new("tool").handler(async || "done")))
}

#[test]
fn the_defaults_are_those_of_the_documentation() {
    let limits = Limits::default();
    assert_eq!(limits.max_body_bytes, 10 << 20);
    assert_eq!(limits.request_timeout, seconds(60));
    assert_eq!((limits.max_concurrent_handlers, limits.handler_queue), (256, 1024));
    assert_eq!(limits.max_blocking_handlers, 64);
    assert_eq!(limits.cancellation_grace, Some(seconds(5)));
    assert_eq!(limits.progress_queue, 16);
    assert_eq!((limits.keep_alive, limits.write_timeout), (Some(seconds(15)), seconds(30)));
    assert_eq!(limits.list_page, 1000);
    assert_eq!((limits.graceful_shutdown, limits.forced_shutdown), (seconds(15), seconds(3)));
    assert_eq!(limits.header_read_timeout, seconds(30));
    assert_eq!((limits.max_connections, limits.max_header_bytes), (8192, 64 << 10));
}

#[test]
fn a_limit_that_would_serve_nothing_is_told_by_its_name() {
    type Set = fn(ServerBuilder) -> ServerBuilder;
    let zeros: [(&str, Set); 10] = [
        ("max_body_bytes", |server| server.max_body_bytes(0)),
        ("max_concurrent_handlers", |server| server.max_concurrent_handlers(0).max_blocking_handlers(0)),
        ("max_blocking_handlers", |server| server.max_blocking_handlers(0)),
        ("progress_queue", |server| server.progress_queue(0)),
        ("list_page", |server| server.list_page(0)),
        ("max_connections", |server| server.max_connections(0)),
        ("request_timeout", |server| server.request_timeout(Duration::ZERO)),
        ("write_timeout", |server| server.write_timeout(Duration::ZERO).keep_alive(None)),
        ("header_read_timeout", |server| server.header_read_timeout(Duration::ZERO)),
        ("keep_alive", |server| server.keep_alive(Duration::ZERO)),
    ];
    for (name, set) in zeros {
        let faults = faults(set(server()));
        assert!(
            faults.iter().any(|fault| fault.message.starts_with(&format!("`{name}` is"))),
            "{name}: {faults:#?}"
        );
    }
}

#[test]
fn a_keep_alive_is_strictly_shorter_than_the_write_timeout() {
    let with = |keep_alive: Option<Duration>| server().keep_alive(keep_alive).write_timeout(seconds(20));
    for keep_alive in [seconds(20), seconds(21)] {
        let faults = faults(with(Some(keep_alive)));
        let message = &faults[0].message;
        assert!(
            faults.len() == 1 && message.contains("keep_alive") && message.contains("write_timeout"),
            "{message}"
        );
    }
    assert!(with(Some(Duration::from_millis(19_999))).build().is_ok());
    assert!(with(None).build().is_ok());
}

#[test]
fn blocking_handlers_fit_into_all_handlers() {
    let faults = faults(server().max_concurrent_handlers(8).max_blocking_handlers(9));
    assert!(faults[0].message.contains("max_concurrent_handlers"), "{faults:#?}");
    assert!(server().max_concurrent_handlers(8).max_blocking_handlers(8).build().is_ok());
}

#[test]
fn a_time_that_no_clock_can_add_is_told() {
    let server =
        server().request_timeout(Duration::MAX).cancellation_grace(Duration::MAX).max_connections(usize::MAX);
    let faults = faults(server);
    let names = ["request_timeout", "cancellation_grace", "max_connections"];
    assert_eq!(faults.len(), names.len(), "{faults:#?}");
    for (fault, name) in faults.iter().zip(names) {
        assert!(fault.message.starts_with(&format!("`{name}` (")), "{name}: {fault}");
    }
}

#[test]
fn the_last_call_of_a_setter_counts() {
    let server = server().list_page(0).keep_alive(seconds(90)).list_page(5).keep_alive(None);
    assert!(server.build().is_ok());
}

#[test]
fn what_is_no_host_or_origin_is_told_by_its_setting() {
    let faults = faults(
        server()
            .allowed_hosts(["mcp.example.com", "https://mcp.example.com", "*.example.com", ""])
            .allowed_origins(["https://app.example.com", "app.example.com", "https://app.example.com/"])
            .cors_origins(["*"]),
    );
    let settings: Vec<&str> =
        faults.iter().map(|fault| fault.message.split('`').nth(1).unwrap_or_default()).collect();
    let expected = [
        "allowed_hosts",
        "allowed_hosts",
        "allowed_hosts",
        "allowed_origins",
        "allowed_origins",
        "cors_origins",
    ];
    assert_eq!(settings, expected, "{faults:#?}");
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let broken = Endpoint::builder("no path")
        .tool(Tool::new("a b").handler(async || "x"))
        .tool(Tool::new("unhandled"))
        .tool(Tool::new("stateful").handler(async |State(count): State<u8>| count.to_string()));
    let server = McpServer::builder().endpoint(broken).list_page(0).cors_origins(["*"]).state("a").state("b");
    let error = mcp_tests::build_error(server);
    assert_eq!(error.faults().len(), 7, "{error}");
    let text = error.to_string();
    assert!(text.starts_with("the server can't be built, for 7 reasons:\n  - "), "{text}");
    for fault in error.faults() {
        assert!(text.contains(&fault.to_string()), "{fault}");
    }
    let stateful = error.faults().iter().find(|fault| fault.message.contains("State<u8>"));
    assert_fault(stateful.unwrap_or_else(|| panic!("{text}")), "stateful", &[".state("]);
}

#[test]
fn one_fault_is_one_line() {
    let text = mcp_tests::build_error(server().list_page(0)).to_string();
    assert_eq!(text, "the server can't be built: `list_page` is 0: nothing could be served; set at least 1");
}
