//! Whose pages may call: a browser says from which origin a page is (`Origin`), and shows it the
//! replies if the server allows it (CORS, <https://fetch.spec.whatwg.org/#http-cors-protocol>).
//!
//! A page of any site can send requests to an address of this machine. What it may send without
//! asking has none of our content types; beyond that, calls of pages that are not listed are
//! refused, and not just kept from being read. A page is not taken for the server's own because a
//! name leads here: whoever has a name may let it lead anywhere.

use std::net::IpAddr;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, HOST, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue};

/// The headers that a page may send with its calls.
const ALLOWED_HEADERS: &str = "content-type, connect-protocol-version, connect-timeout-ms, \
                               grpc-timeout, x-grpc-web, x-user-agent, authorization, x-api-key, \
                               clearance-session-key, x-request-id, traceparent, \
                               tracestate";

/// What a page may read beside the content type.
const EXPOSED_HEADERS: &str = "grpc-status, grpc-message, grpc-status-details-bin, x-request-id";

/// What the server answers.
pub(super) const METHODS: &str = "POST, OPTIONS";

/// How long a browser need not ask again, seconds; as long as any of them remembers it.
const AGE: &str = "7200";

/// A browser asks with this whether a page of the internet may call into a private network.
const ASKS_PRIVATE: &str = "access-control-request-private-network";
const ALLOWS_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The origins whose pages may call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    are_all: bool,
    listed: Vec<String>,
}

/// What a list of origins has that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no origin, as https://example.com and http://localhost:5173 are, and * is all")]
pub struct NoOrigin(String);

/// How the sender of a request stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OriginStanding {
    /// It may call: it is no page, or one of this server itself.
    Own,
    /// It may call and read what it is told.
    Listed(HeaderValue),
    /// It may not call.
    Stranger(String),
}

impl Origins {
    /// Of a list with commas between.
    pub fn of(list: &str) -> Result<Self, NoOrigin> {
        let mut origins = Self::default();
        for origin in list.split(',').map(str::trim).filter(|origin| !origin.is_empty()) {
            if origin == "*" {
                origins.are_all = true;
            } else if is_origin(origin) {
                origins.listed.push(origin.to_ascii_lowercase());
            } else {
                return Err(NoOrigin(origin.to_owned()));
            }
        }
        Ok(origins)
    }

    /// How whoever sent these headers stands.
    pub(super) fn standing(&self, headers: &HeaderMap) -> OriginStanding {
        let Some(value) = headers.get(ORIGIN) else { return OriginStanding::Own };
        let origin = value.to_str().unwrap_or("?").to_ascii_lowercase();
        if self.are_all || self.listed.contains(&origin) {
            return OriginStanding::Listed(value.clone());
        }
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
        if authority.eq_ignore_ascii_case(host) && is_no_name(host) {
            return OriginStanding::Own;
        }
        OriginStanding::Stranger(origin)
    }
}

/// A scheme and where it leads, without a path.
fn is_origin(text: &str) -> bool {
    let Some((scheme, authority)) = text.split_once("://") else { return false };
    let is_scheme = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let parsed = authority.parse::<http::uri::Authority>();
    !scheme.is_empty()
        && is_scheme
        && parsed.is_ok_and(|one| !one.host().is_empty() && !one.as_str().contains('@'))
}

/// Whether a host is an address or this machine, which nobody can let lead elsewhere.
fn is_no_name(host: &str) -> bool {
    let Ok(authority) = host.parse::<http::uri::Authority>() else { return false };
    let host = authority.host();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().is_ok() || host == "localhost" || host.ends_with(".localhost")
}

/// What a browser is told of a call that it may show to its page.
pub(super) fn allow(headers: &mut HeaderMap, standing: &OriginStanding) {
    headers.insert(VARY, HeaderValue::from_static("origin"));
    if let OriginStanding::Listed(origin) = standing {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
    }
}

/// What a browser is told that asks before it calls.
pub(super) fn preflight(asked: &HeaderMap, told: &mut HeaderMap, standing: &OriginStanding) {
    told.insert(ALLOW, HeaderValue::from_static(METHODS));
    if !matches!(standing, OriginStanding::Listed(_)) {
        return;
    }
    told.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
    told.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(ALLOWED_HEADERS));
    told.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(AGE));
    if asked.contains_key(ASKS_PRIVATE) {
        told.insert(ALLOWS_PRIVATE, HeaderValue::from_static("true"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(list: &str, origin: Option<&str>, host: &str) -> OriginStanding {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        Origins::of(list).unwrap().standing(&headers)
    }

    #[test]
    fn pages_that_are_listed_may_call_and_strangers_may_not() {
        let list = "https://a.example, http://localhost:5173";
        for listed in ["https://a.example", "http://localhost:5173", "HTTPS://A.example"] {
            let found = standing(list, Some(listed), "127.0.0.1:1");
            assert!(matches!(found, OriginStanding::Listed(_)), "{listed}");
        }
        for other in [
            "http://a.example",
            "https://a.example:8443",
            "https://b.example",
            "https://a.example.evil.example",
            "null",
            "",
        ] {
            let found = standing(list, Some(other), "127.0.0.1:1");
            assert!(matches!(found, OriginStanding::Stranger(_)), "{other}");
            assert!(matches!(standing("*", Some(other), "x"), OriginStanding::Listed(_)));
        }
        assert_eq!(standing("", None, "127.0.0.1:1"), OriginStanding::Own, "no page");
    }

    /// A name of an attacker leads to the loopback interface while its page is open.
    #[test]
    fn a_page_is_the_servers_own_by_address_and_not_by_name() {
        for own in ["127.0.0.1:9090", "[::1]:9090", "localhost:9090", "a.localhost:9090"] {
            assert_eq!(standing("", Some(&format!("http://{own}")), own), OriginStanding::Own);
        }
        for host in ["evil.example:9090", "127.0.0.1.evil.example", "localhost.evil.example"] {
            let found = standing("", Some(&format!("http://{host}")), host);
            assert!(matches!(found, OriginStanding::Stranger(_)), "{host}");
        }
        let other_port = standing("", Some("http://127.0.0.1:9091"), "127.0.0.1:9090");
        assert!(matches!(other_port, OriginStanding::Stranger(_)));
    }

    #[test]
    fn what_is_no_origin_is_refused_when_the_server_starts() {
        for good in
            ["", "*", "https://a.example", " https://a.example , null://x ,", "http://[::1]:1"]
        {
            assert!(Origins::of(good).is_ok(), "{good}");
        }
        for bad in ["a.example", "https://a.example/", "https://", "https://a/b", "://a", "x y://a"]
        {
            assert_eq!(Origins::of(bad), Err(NoOrigin(bad.to_owned())));
        }
    }
}
