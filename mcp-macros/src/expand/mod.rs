//! What the attributes expand to. Everything was checked before: nothing here fails.

mod endpoint;
mod kind;
mod operation;
mod parameter;
mod runtime;
mod start;

pub use self::{
    endpoint::{declaration, mention},
    operation::{checks, operation},
    runtime::Runtime,
};
