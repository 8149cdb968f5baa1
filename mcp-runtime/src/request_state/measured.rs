//! Sealing and opening as the engine does it, for the benchmark.

use std::{error::Error, sync::Arc};

use super::{
    context::StateContext,
    protector::BoxError,
    ring::KeyRing,
    sealer::{StateBounds, StateSealer},
};
use crate::{
    handler::{Caller, EndpointInfo},
    protocol::{Envelope, Params, ProtocolError, Revision},
};

/// The states of one request. Not for use by hand: it changes without notice.
pub struct MeasuredStates<'a> {
    sealer: StateSealer,
    endpoint: Arc<EndpointInfo>,
    params: Params<'a>,
}

impl<'a> MeasuredStates<'a> {
    /// For the call of a tool that a body holds.
    ///
    /// # Errors
    /// If it holds none.
    pub fn new(body: &'a [u8]) -> Result<Self, Box<dyn Error>> {
        let params = Envelope::parse(body).map_err(ProtocolError::from)?.params;
        let endpoint = EndpointInfo { path: "/mcp".into(), name: "measured".into(), version: "1".into() };
        let ring = Arc::new(KeyRing::development()?);
        let sealer = StateSealer::new(ring, None, StateBounds::default());
        Ok(Self { sealer, endpoint: Arc::new(endpoint), params })
    }

    /// What its states belong to.
    #[must_use]
    pub fn context(&self) -> StateContext {
        let endpoint = Arc::clone(&self.endpoint);
        StateContext::new(endpoint, Revision::LATEST, "tools/call", Caller::identified("ada"), &self.params)
    }

    /// Seals a state.
    ///
    /// # Errors
    /// If it can't be sealed.
    pub async fn seal(&self, context: &StateContext, payload: &[u8]) -> Result<String, BoxError> {
        self.sealer
            .seal(context, &1.into(), None, payload)
            .await
            .map_err(|failure| failure.to_string().into())
    }

    /// Opens a state.
    ///
    /// # Errors
    /// If it can't be opened.
    pub async fn open(&self, context: &StateContext, sealed: &str) -> Result<Vec<u8>, BoxError> {
        let opened = self.sealer.open(context, &2.into(), sealed).await;
        opened.map(|opened| opened.payload).map_err(|failure| failure.to_string().into())
    }
}
