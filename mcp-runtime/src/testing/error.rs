//! An error of the protocol, as the client gets it.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// The error with which a request was answered.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RpcError {
    /// The JSON-RPC code, such as -32602.
    pub code: i64,
    /// The text.
    pub message: String,
    /// What else it says: `data.faults` lists all that is wrong with a request.
    pub data: Option<Value>,
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)?;
        match &self.data {
            Some(data) => write!(f, ": {data}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RpcError {}
