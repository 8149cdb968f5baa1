//! Answers that pages of other origins may read: cross-origin resource sharing.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, header, request::Parts};

use super::{ResponseBody, security::HttpPolicy};

static WANTED: HeaderName = HeaderName::from_static("access-control-request-headers");

/// A page of another origin that may read the answer.
pub(super) struct Page {
    origin: HeaderValue,
    /// What a browser asks before the request itself.
    preflight: Option<Preflight>,
}

struct Preflight {
    /// The headers that the page wants to send.
    wanted: Option<HeaderValue>,
}

impl Page {
    /// The page that makes a request, if its origin is on the list. In a box, as most requests are no page's.
    pub(super) fn of(policy: &HttpPolicy, parts: &Parts) -> Option<Box<Self>> {
        let origin = policy.cors_origin(&parts.headers)?;
        let preflight = (parts.method == Method::OPTIONS)
            .then(|| Preflight { wanted: parts.headers.get(&WANTED).cloned() });
        Some(Box::new(Self { origin, preflight }))
    }

    /// Lets the page read the answer.
    pub(super) fn allow(self, mut response: Response<ResponseBody>) -> Response<ResponseBody> {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.origin);
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("retry-after, www-authenticate"),
        );
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
        match self.preflight {
            Some(preflight) if response.status() == StatusCode::METHOD_NOT_ALLOWED => {
                preflight.allow(response)
            }
            _ => response,
        }
    }
}

impl Preflight {
    /// Answers the browser that the page may send its request.
    fn allow(self, mut response: Response<ResponseBody>) -> Response<ResponseBody> {
        *response.status_mut() = StatusCode::NO_CONTENT;
        *response.body_mut() = ResponseBody::whole(Bytes::new());
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_TYPE);
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
        // Whatever the page wants to send is checked when it sends it; `*` would not cover `Authorization`.
        if let Some(wanted) = self.wanted {
            headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted);
        }
        response
    }
}
