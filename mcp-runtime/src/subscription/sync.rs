//! The lock of a stream's state; another one stands in for it where all interleavings are tried.

pub(super) use std::sync::Mutex;
