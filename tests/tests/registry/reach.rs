//! Who can reach a server: beyond this machine, only by choice.

use mcp_runtime::{
    McpServer,
    prelude::*,
    registry::BuildError,
    server::{ServeError, ServerBuilder},
};
use mcp_tests::endpoint;
use tokio::net::TcpListener;

fn server() -> ServerBuilder {
    McpServer::builder().endpoint(endpoint().tool(Tool::new("tool").handler(async || "done")))
}

#[track_caller]
fn assert_asks_for(error: &BuildError, lines: &[&str]) {
    assert_eq!(error.faults().len(), lines.len(), "{error}");
    for (fault, line) in error.faults().iter().zip(lines) {
        assert!(fault.message.contains(line), "{line}: {error}");
    }
}

const ADMISSION: &str = "`.admission(anonymous())`";
const HOSTS: &str = "`.allowed_hosts([\"mcp.example.com\"])`";

#[test]
fn a_router_or_service_may_be_reached_by_anybody() {
    assert_asks_for(&server().into_router().unwrap_err(), &[ADMISSION, HOSTS]);
    assert_asks_for(&server().admission(anonymous()).into_router().unwrap_err(), &[HOSTS]);
    assert_asks_for(&server().allowed_hosts(["localhost"]).into_router().unwrap_err(), &[ADMISSION]);
    let service = server().build().map(McpServer::into_service).unwrap();
    assert_asks_for(&service.unwrap_err(), &[ADMISSION, HOSTS]);
    assert!(server().admission(anonymous()).allowed_hosts(["localhost"]).into_router().is_ok());
}

#[tokio::test]
async fn an_address_that_others_can_reach_needs_both_choices() {
    for server in [server(), server().admission(anonymous()), server().allowed_hosts(["localhost"])] {
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap();
        match server.serve_with(listener).await {
            Err(ServeError::Build(error)) => {
                assert!(error.to_string().contains(&port.to_string()), "{error}")
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_listener_without_an_address_could_be_anywhere() {
    /// Where it listens is its own secret.
    struct Hidden;

    impl mcp_runtime::transport::http::Listener for Hidden {
        type Io = tokio::io::DuplexStream;
        type Address = ();

        async fn accept(&mut self) -> std::io::Result<(Self::Io, ())> {
            std::future::pending().await
        }

        fn local_address(&self) -> Option<std::net::SocketAddr> {
            None
        }
    }

    match server().serve_with(Hidden).await {
        Err(ServeError::Build(error)) => assert_asks_for(&error, &[ADMISSION, HOSTS]),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_address_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    match server().serve(taken.local_addr().unwrap()).await {
        Err(error @ ServeError::Bind(..)) => {
            assert!(error.to_string().starts_with("can't listen at 127.0.0.1:"), "{error}")
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_main_function_that_returns_the_error_prints_it_for_people() {
    let error = McpServer::builder().serve("127.0.0.1:0").await.unwrap_err();
    assert_eq!(format!("{error:?}"), error.to_string());
    assert!(error.to_string().contains("nothing to serve"), "{error}");
}
