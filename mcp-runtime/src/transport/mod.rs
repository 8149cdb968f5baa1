//! The rooms that know a byte stream: HTTP, stdio, and calls within the process.

pub mod http;
pub(crate) mod in_process;
mod lines;
#[cfg(test)]
mod samples;
pub(crate) mod stdio;
