//! Which operations ask the client, and what is wrong with how they do.

use std::fmt;

use super::{
    descriptor::{Origin, Registration},
    endpoint::Endpoint,
    fault::BuildFault,
    operation::{Common, Place},
};
use crate::handler::{Form, FormError};

/// A type under `#[derive(ElicitationForm)]`.
#[derive(Clone, Copy)]
pub struct FormDescriptor {
    /// Makes the form.
    pub form: fn() -> Result<Form, FormError>,
    /// Where the type was declared.
    pub origin: Origin,
}

impl fmt::Debug for FormDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FormDescriptor").field("origin", &self.origin).finish_non_exhaustive()
    }
}

/// Whether a handler asks, and whose the state between rounds is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// It never asks.
    Never,
    /// In rounds, with a state that the framework seals.
    Sealed,
    /// In rounds, with a state of the application's own.
    OwnState,
}

impl Asks {
    pub(super) fn of(common: &Common) -> Self {
        let needs = common.needs();
        match (needs.asks(), needs.has_own_state()) {
            (false, _) => Self::Never,
            (true, false) => Self::Sealed,
            (true, true) => Self::OwnState,
        }
    }
}

/// Checks what an endpoint's operations ask.
pub(super) fn check(endpoint: &Endpoint, faults: &mut Vec<BuildFault>) {
    for common in endpoint.operations() {
        let needs = common.needs();
        if needs.has_own_state() && !needs.asks() {
            let message = "takes `RequestState` and asks nothing: take `Ask`, too, or remove it";
            faults.push(BuildFault::at(&common.place, message));
        }
        if !common.asks.is_empty() && !needs.asks() {
            let message = "says what it `asks(…)` and takes no `Ask`: take one, or remove the key";
            faults.push(BuildFault::at(&common.place, message));
        }
    }
    let completions = endpoint.completions.iter().map(|completion| &completion.common);
    let lists = endpoint.resource_lists.iter().map(|list| &list.common);
    for common in completions.chain(lists).filter(|common| common.needs().asks()) {
        let message = "takes `Ask`, and only tools, resources and prompts may ask: remove the parameter";
        faults.push(BuildFault::at(&common.place, message));
    }
}

/// Checks every form that was derived, whether anything asks for it or not.
pub(crate) fn check_forms(faults: &mut Vec<BuildFault>) {
    for registration in inventory::iter::<Registration> {
        let Registration::Form(form) = registration else { continue };
        if let Err(error) = (form.form)() {
            faults.push(BuildFault::at(
                Place::annotated(form.origin),
                format!("is no elicitation form: {error}"),
            ));
        }
    }
}
