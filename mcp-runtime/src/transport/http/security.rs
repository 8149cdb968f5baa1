//! Who may call over HTTP at all: Host and Origin (specification: `transports/streamable-http`, security).

use std::net::IpAddr;

use http::{HeaderMap, HeaderValue, Uri, header};

use crate::{
    engine::{Twice, once},
    protocol::{Condition, ProtocolError},
};

/// Which hosts and origins are served.
#[derive(Clone, Debug, Default)]
pub(crate) struct HttpPolicy {
    /// Host names, each with or without a port. `None`: the loopback names only.
    pub allowed_hosts: Option<Vec<String>>,
    /// Origins beside those of the allowed hosts.
    pub allowed_origins: Vec<String>,
    /// Origins whose pages may read the answers.
    pub cors_origins: Vec<String>,
}

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl HttpPolicy {
    /// What in the settings is no host or origin.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for host in self.allowed_hosts.iter().flatten() {
            if host.contains(['/', '@', '?', '#', ' ', '*']) || host.is_empty() {
                faults.push(format!(
                    "`allowed_hosts` takes host names, with or without a port, and no `{host}`"
                ));
            }
        }
        for (setting, origins) in
            [("allowed_origins", &self.allowed_origins), ("cors_origins", &self.cors_origins)]
        {
            for origin in origins {
                let plain = origin.split_once("://").is_some_and(|(scheme, rest)| {
                    !scheme.is_empty() && !rest.is_empty() && !rest.contains(['/', '?', '#', '*', ' '])
                });
                if !plain || HeaderValue::from_str(origin).is_err() {
                    faults.push(format!(
                        "`{setting}` takes origins such as `https://app.example.com`, and no `{origin}`"
                    ));
                }
            }
        }
        faults
    }

    /// Refuses a request for a host that is not served: what DNS rebinding would look like.
    pub(crate) fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), ProtocolError> {
        let twice = |Twice| ProtocolError::new(Condition::Forbidden, "the header `Host` comes twice");
        let named = once(headers, &header::HOST).map_err(twice)?.map(HeaderValue::to_str);
        // HTTP/2 has the host in the request's target.
        let host = match (uri.authority(), named) {
            (Some(authority), _) => authority.as_str(),
            (None, Some(Ok(host))) => host,
            (None, _) => {
                return Err(ProtocolError::new(Condition::Forbidden, "the header `Host` is missing"));
            }
        };
        if self.serves(host) {
            return Ok(());
        }
        let message = format!(
            "the host `{host}` is not served: the server can allow it with `.allowed_hosts([\"{host}\"])`"
        );
        Err(ProtocolError::new(Condition::Forbidden, message))
    }

    /// Refuses a page of a foreign origin. A request without `Origin` is from no page.
    pub(crate) fn check_origin(&self, headers: &HeaderMap) -> Result<(), ProtocolError> {
        let twice = |Twice| ProtocolError::new(Condition::Forbidden, "the header `Origin` comes twice");
        let Some(origin) = once(headers, &header::ORIGIN).map_err(twice)? else {
            return Ok(());
        };
        let origin = String::from_utf8_lossy(origin.as_bytes());
        let named = |list: &[String]| list.iter().any(|allowed| allowed.eq_ignore_ascii_case(&origin));
        let own = origin.split_once("://").is_some_and(|(scheme, host)| {
            ["http", "https"].iter().any(|http| scheme.eq_ignore_ascii_case(http)) && self.serves(host)
        });
        if own || named(&self.allowed_origins) || named(&self.cors_origins) {
            return Ok(());
        }
        let message = format!(
            "the origin `{origin}` is not allowed: the server can allow it with `.allowed_origins([\"{origin}\"])`"
        );
        Err(ProtocolError::new(Condition::Forbidden, message))
    }

    fn serves(&self, host: &str) -> bool {
        let name = without_port(host);
        match &self.allowed_hosts {
            Some(allowed) => allowed.iter().any(|allowed| {
                // A name without a port is meant with any.
                let compared = if without_port(allowed).len() == allowed.len() { name } else { host };
                allowed.eq_ignore_ascii_case(compared)
            }),
            None => {
                LOOPBACK.iter().any(|allowed| allowed.eq_ignore_ascii_case(name)) || is_loopback_address(name)
            }
        }
    }

    /// The value of `Access-Control-Allow-Origin` for a request, if its origin is on the list.
    pub(crate) fn cors_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        if self.cors_origins.is_empty() {
            return None;
        }
        let origin = headers.get(header::ORIGIN)?;
        let listed = self
            .cors_origins
            .iter()
            .any(|allowed| allowed.as_bytes().eq_ignore_ascii_case(origin.as_bytes()));
        listed.then(|| origin.clone())
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        // The last colon of a bare IPv6 address is no port's.
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty() => {
            if name.starts_with('[') && !name.ends_with(']') { host } else { name }
        }
        _ => host,
    }
}

fn is_loopback_address(name: &str) -> bool {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(hosts: Option<&[&str]>) -> HttpPolicy {
        let allowed_hosts = hosts.map(|hosts| hosts.iter().map(|host| (*host).to_owned()).collect());
        HttpPolicy { allowed_hosts, ..HttpPolicy::default() }
    }

    fn host(policy: &HttpPolicy, host: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        policy.check_host(&Uri::from_static("/mcp"), &headers).is_ok()
    }

    fn origin(policy: &HttpPolicy, origin: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::ORIGIN, origin.parse().unwrap());
        policy.check_origin(&headers).is_ok()
    }

    #[test]
    fn loopback_names_are_served_by_default() {
        let policy = policy(None);
        for good in ["localhost", "LOCALHOST:80", "127.0.0.1:8081", "[::1]:9", "[::1]", "127.0.0.2"] {
            assert!(host(&policy, good), "{good}");
        }
        for bad in [
            "evil.example.com",
            "localhost.evil.com",
            "10.0.0.1",
            "127.0.0.1.evil.com",
            "localhost:x",
            "[::2]",
        ] {
            assert!(!host(&policy, bad), "{bad}");
        }
    }

    #[test]
    fn named_hosts_are_served_with_their_port_if_they_have_one() {
        let policy = policy(Some(&["mcp.example.com", "api.example.com:8443"]));
        for good in ["mcp.example.com", "MCP.example.com:80", "api.example.com:8443"] {
            assert!(host(&policy, good), "{good}");
        }
        for bad in ["api.example.com", "api.example.com:443", "localhost"] {
            assert!(!host(&policy, bad), "{bad}");
        }
    }

    #[test]
    fn the_authority_of_http_2_is_the_host() {
        let uri = Uri::from_static("http://evil.example.com/mcp");
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static("localhost"));
        assert!(policy(None).check_host(&uri, &headers).is_err());
        assert!(
            policy(None).check_host(&Uri::from_static("http://localhost:1/mcp"), &HeaderMap::new()).is_ok()
        );
    }

    #[test]
    fn a_host_or_origin_that_comes_twice_is_refused() {
        let mut headers = HeaderMap::new();
        for name in [header::HOST, header::ORIGIN] {
            headers.append(name.clone(), HeaderValue::from_static("localhost"));
            headers.append(name, HeaderValue::from_static("localhost"));
        }
        assert!(policy(None).check_host(&Uri::from_static("/"), &headers).is_err());
        assert!(policy(None).check_origin(&headers).is_err());
    }

    #[test]
    fn foreign_origins_are_refused_unless_they_are_named() {
        let mut policy = policy(None);
        policy.allowed_origins = vec!["https://app.example.com".to_owned()];
        policy.cors_origins = vec!["vscode-webview://panel".to_owned()];
        for good in [
            "http://localhost:3000",
            "https://127.0.0.1",
            "https://app.example.com",
            "vscode-webview://panel",
        ] {
            assert!(origin(&policy, good), "{good}");
        }
        for bad in
            ["null", "http://evil.example.com", "http://app.example.com", "ftp://localhost", "localhost"]
        {
            assert!(!origin(&policy, bad), "{bad}");
        }
        assert!(policy.check_origin(&HeaderMap::new()).is_ok());
    }

    #[test]
    fn what_is_no_host_or_origin_is_a_fault() {
        let mut policy = policy(Some(&["https://a.example.com", "*.example.com"]));
        policy.cors_origins =
            vec!["*".to_owned(), "https://a/b".to_owned(), "https://fine.example.com:8443".to_owned()];
        assert_eq!(policy.faults().len(), 4);
    }
}
