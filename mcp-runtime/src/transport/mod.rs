//! The rooms that know a byte stream: HTTP, stdio, and calls within the process.

pub mod http;
