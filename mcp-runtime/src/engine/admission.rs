//! Admission: who is calling, and may they.

use std::{future::Future, pin::Pin, sync::Arc};

use http::{Extensions, HeaderMap, HeaderValue};

use crate::{
    handler::{Caller, EndpointInfo},
    protocol::{Condition, ProtocolError, Revision},
};

/// Decides who a caller is and whether they may make a request.
///
/// It runs for every request, before anything that would tell which tools, prompts or resources exist, and within
/// the request's deadline.
///
/// ```
/// use mcp_runtime::prelude::*;
///
/// struct Keys;
///
/// impl Admission for Keys {
///     async fn admit(&self, request: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
///         match request.headers().get("authorization").and_then(|value| value.to_str().ok()) {
///             Some("Bearer letmein") => Ok(Caller::identified("ada")),
///             _ => Err(Denied::unauthorized("Bearer")),
///         }
///     }
/// }
/// ```
pub trait Admission: Send + Sync + 'static {
    /// Admits the caller, or says why not.
    fn admit(&self, request: &AdmissionRequest<'_>) -> impl Future<Output = Result<Caller, Denied>> + Send;
}

/// Admits everybody, as nobody in particular.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anonymous;

/// Admits everybody: the explicit choice for a server that others can reach.
#[must_use]
pub fn anonymous() -> Anonymous {
    Anonymous
}

impl Admission for Anonymous {
    async fn admit(&self, _: &AdmissionRequest<'_>) -> Result<Caller, Denied> {
        Ok(Caller::anonymous())
    }
}

/// What admission can go by.
#[derive(Clone, Copy, Debug)]
pub struct AdmissionRequest<'r> {
    pub(crate) headers: &'r HeaderMap,
    pub(crate) extensions: &'r Extensions,
    pub(crate) endpoint: &'r EndpointInfo,
    pub(crate) revision: Revision,
    pub(crate) method: &'r str,
    pub(crate) target: Option<&'r str>,
}

impl<'r> AdmissionRequest<'r> {
    /// The headers of the HTTP request; empty on other transports.
    #[must_use]
    pub fn headers(&self) -> &'r HeaderMap {
        self.headers
    }

    /// What a layer in front put into the request, by its type.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&'r T> {
        self.extensions.get()
    }

    /// The endpoint that is called.
    #[must_use]
    pub fn endpoint(&self) -> &'r EndpointInfo {
        self.endpoint
    }

    /// The protocol revision of the request.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The JSON-RPC method, such as `tools/call`.
    #[must_use]
    pub fn method(&self) -> &'r str {
        self.method
    }

    /// The tool, prompt or URI that is addressed, as the client names it; it need not exist.
    #[must_use]
    pub fn target(&self) -> Option<&'r str> {
        self.target
    }
}

/// A refusal by an [`Admission`].
#[derive(Clone, Debug)]
pub struct Denied {
    condition: Condition,
    message: String,
    pub(crate) challenge: Option<HeaderValue>,
}

impl Denied {
    /// Who calls is not known: HTTP 401, with a `WWW-Authenticate` challenge such as `Bearer`. A challenge that is no
    /// header value is left out.
    pub fn unauthorized(challenge: impl AsRef<str>) -> Self {
        let challenge = HeaderValue::from_str(challenge.as_ref()).ok();
        Self {
            condition: Condition::Unauthorized,
            message: "authentication is required".to_owned(),
            challenge,
        }
    }

    /// The caller is known, and may not: HTTP 403.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self { condition: Condition::Forbidden, message: message.into(), challenge: None }
    }

    /// The words that the client gets.
    #[must_use]
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    pub(crate) fn error(&self) -> ProtocolError {
        ProtocolError::new(self.condition, self.message.clone())
    }
}

/// An [`Admission`] whose type is forgotten.
pub(crate) trait DynAdmission: Send + Sync {
    fn admit<'a>(
        &'a self,
        request: &'a AdmissionRequest<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<Caller, Denied>> + Send + 'a>>;
}

impl<A: Admission> DynAdmission for A {
    fn admit<'a>(
        &'a self,
        request: &'a AdmissionRequest<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<Caller, Denied>> + Send + 'a>> {
        Box::pin(Admission::admit(self, request))
    }
}

/// The admission of a server: nobody is asked when everybody is admitted.
#[derive(Clone, Default)]
pub(crate) enum AdmissionChoice {
    /// Not chosen: anonymous, and only on loopback.
    #[default]
    Unchosen,
    /// Everybody, explicitly.
    Anonymous,
    /// By the application.
    Custom(Arc<dyn DynAdmission>),
}

impl AdmissionChoice {
    pub(crate) fn new(admission: impl Admission) -> Self {
        let any: &dyn std::any::Any = &admission;
        if any.is::<Anonymous>() { Self::Anonymous } else { Self::Custom(Arc::new(admission)) }
    }
}
