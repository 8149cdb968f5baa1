//! A client, just enough of one to show what the servers here do.
//!
//! Tests of a server need no socket: they use `mcp_runtime::testing`.

use std::{
    io,
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    net::TcpStream,
};

const REVISION: &str = "2026-07-28";

/// Calls one MCP endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// Where its server listens.
    pub address: SocketAddr,
    /// The path of the endpoint.
    pub path: &'static str,
}

impl Client {
    /// Sends a request, and asks for its progress. To cancel it, drop what this returns.
    ///
    /// # Errors
    /// If the server can't be reached.
    pub async fn request(&self, method: &str, mut params: Value) -> io::Result<Messages> {
        static ID: AtomicU64 = AtomicU64::new(1);
        let name = params.get("name").or(params.get("uri")).and_then(Value::as_str);
        let name = name.map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": { "name": "demo", "version": "1.0.0" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
            "progressToken": "demo",
        });
        let id = ID.fetch_add(1, Relaxed);
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        let (Self { address, path }, length) = (self, body.len());
        // HTTP/1.0, since it has no chunks: the answer is made of whole lines, and ends with the connection.
        let head = format!(
            "POST {path} HTTP/1.0\r\n\
             Host: {address}\r\n\
             Content-Type: application/json\r\n\
             Content-Length: {length}\r\n\
             Accept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: {REVISION}\r\n\
             Mcp-Method: {method}\r\n\
             {name}\r\n"
        );
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all((head + &body).as_bytes()).await?;
        Ok(Messages(BufReader::new(stream).lines()))
    }
}

/// The messages that answer a request: notifications, then the response.
#[derive(Debug)]
pub struct Messages(Lines<BufReader<TcpStream>>);

impl Messages {
    /// The next message, if there is one.
    ///
    /// # Errors
    /// If the connection breaks, or the server sends what is no JSON.
    pub async fn next(&mut self) -> io::Result<Option<Value>> {
        while let Some(line) = self.0.next_line().await? {
            // A message is the data of an event, or the whole body. Everything else is headers and space.
            let message = line.strip_prefix("data: ").unwrap_or(&line);
            if message.starts_with('{') {
                return Ok(Some(serde_json::from_str(message)?));
            }
        }
        Ok(None)
    }

    /// The result in the response.
    ///
    /// # Errors
    /// As [`next`](Self::next), and if the response is an error or missing.
    pub async fn result(mut self) -> io::Result<Value> {
        while let Some(mut message) = self.next().await? {
            if let Some(result) = message.get_mut("result") {
                return Ok(result.take());
            }
            if let Some(error) = message.get("error") {
                return Err(io::Error::other(error.to_string()));
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
