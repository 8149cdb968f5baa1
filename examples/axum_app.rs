//! An axum application with an MCP endpoint beside its other routes, behind the same authentication.
//!
//! `cargo run --example axum_app`, and then
//!
//! ```sh
//! curl http://127.0.0.1:8081/mcp -H 'Authorization: Bearer ada-secret' \
//!     -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
//!     -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: my_orders' \
//!     -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "my_orders", "_meta": {
//!         "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}}'
//! ```

use std::error::Error;

use axum::{
    Router,
    extract::Request,
    http::{StatusCode, header::AUTHORIZATION},
    middleware::{self, Next},
    response::Response,
    routing::get,
};
use mcp_runtime::prelude::*;
use tokio::net::TcpListener;

/// Who is logged in.
#[derive(Clone)]
struct User {
    name: &'static str,
}

/// Finds the user, for all that comes after.
async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let user = match request.headers().get(AUTHORIZATION).map(|value| value.as_bytes()) {
        Some(b"Bearer ada-secret") => User { name: "Ada" },
        Some(b"Bearer bob-secret") => User { name: "Bob" },
        _ => return Err(StatusCode::UNAUTHORIZED),
    };
    request.extensions_mut().insert(user);
    Ok(next.run(request).await)
}

/// Tells the MCP server who calls, so that its limits know callers apart.
struct LoggedIn;

impl Admission for LoggedIn {
    async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        let user: &User = request.extension().ok_or_else(|| Denied::unauthorized("Bearer"))?;
        Ok(Caller::identified(user.name))
    }
}

/// Lists your orders.
#[mcp_tool(read_only)]
async fn my_orders(Extension(user): Extension<User>) -> String {
    orders_of(&user)
}

/// The same for people.
async fn orders_page(axum::Extension(user): axum::Extension<User>) -> String {
    orders_of(&user)
}

fn orders_of(user: &User) -> String {
    format!("{} has ordered nothing yet.", user.name)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = McpServer::from_annotations()
        .admission(LoggedIn)
        .allowed_hosts(["127.0.0.1:8081", "localhost:8081"])
        .build()?;
    let handle = server.handle();
    let app = Router::new()
        .route("/orders", get(orders_page))
        .merge(server.into_router()?)
        .layer(middleware::from_fn(authenticate))
        .route("/health", get(async || "healthy"));

    let listener = TcpListener::bind("127.0.0.1:8081").await?;
    println!("http://127.0.0.1:8081/orders for people, http://127.0.0.1:8081/mcp for models");
    // The MCP server ends first: its calls drain, and its streams end as they should.
    let told_to_end = async move {
        let _ = tokio::signal::ctrl_c().await;
        handle.shutdown().await;
    };
    axum::serve(listener, app).with_graceful_shutdown(told_to_end).await?;
    Ok(())
}
