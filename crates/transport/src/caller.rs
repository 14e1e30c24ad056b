//! Who makes a call. That is known once its headers are there, and decided here alone: what is
//! shared between principals asks the [`Caller`] of a call, and nobody asks its connection.
//!
//! Where keys are asked for, the caller is the tenant whose key the headers bring; otherwise it is
//! whoever is at the other end of the connection.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, Request};

use super::connection::Peer;
use super::limiter::ActiveCall;
use clearance_runtime::access::{Access, Grant, NotGranted, needed_role};
use clearance_runtime::client::Client;
use clearance_runtime::memory::MemoryQuota;
use clearance_wire::status::Failure;

/// Where a key may stand, beside `authorization: Bearer KEY`.
const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");

/// What the value of `authorization` begins with; in any case (RFC 9110, section 11.1).
const BEARER: &str = "bearer ";

/// Who makes a call, who pays for it, and that its connection is not idle meanwhile.
#[derive(Debug)]
pub(super) struct Caller {
    /// Whose turn in the pool the call awaits.
    pub(super) client: Client,
    /// From which the memory of the call is taken.
    pub(super) quota: MemoryQuota,
    /// None: there is no connection, as in tests.
    pub(super) busy: Option<ActiveCall>,
    /// What its key allows; none: it was asked for none.
    pub(super) grant: Option<Grant>,
}

impl Caller {
    /// Of a request that the transport has put its peer into, if it may call this method.
    pub(super) fn of<B>(request: &Request<B>, access: &Access) -> Result<Self, Failure> {
        let grant = granted(request, access)?;
        let principal = grant.as_ref().map(|grant| grant.principal);
        let Some(peer) = request.extensions().get::<Peer>() else {
            let client = principal.map_or(Client::NOBODY, |whose| Client::NOBODY.of(whose));
            return Ok(Self { client, grant, ..Self::nobody() });
        };
        let client = principal.map_or(peer.client, |whose| peer.client.of(whose));
        let quota = peer.quota.for_call_of(client.principal());
        Ok(Self { client, quota, busy: Some(peer.begin()), grant })
    }

    /// Whoever asks without a connection, and without bounds.
    pub(super) fn nobody() -> Self {
        let quota = MemoryQuota::of_nobody();
        Self { client: Client::NOBODY, quota, busy: None, grant: None }
    }
}

/// What the key of a request allows, if it allows its method.
fn granted<B>(request: &Request<B>, access: &Access) -> Result<Option<Grant>, Failure> {
    if !access.asks_for_keys() {
        return Ok(None);
    }
    let method = request.uri().path();
    let Some(needed) = needed_role(method) else { return Ok(None) };
    let key = key_of(request.headers()).ok_or(Failure::NoKey)?;
    let grant = access.grant(key).map_err(|why| match why {
        NotGranted::Wrong => Failure::WrongKey,
        NotGranted::KeyAskedFor => Failure::KeyAskedFor,
    })?;
    if grant.role < needed {
        let method = method.trim_start_matches('/').to_owned();
        return Err(Failure::RoleTooLow { method, needed: needed.name() });
    }
    Ok(Some(grant))
}

/// The key that headers bring. Whoever brings two is not taken at either.
fn key_of(headers: &HeaderMap) -> Option<&str> {
    let bearers = headers.get_all(AUTHORIZATION).into_iter().filter_map(|value| {
        let (scheme, key) = value.to_str().ok()?.split_at_checked(BEARER.len())?;
        scheme.eq_ignore_ascii_case(BEARER).then(|| key.trim())
    });
    let plain = headers.get_all(KEY_HEADER).into_iter().filter_map(|value| value.to_str().ok());
    let mut keys = bearers.chain(plain);
    let key = keys.next()?;
    keys.all(|other| other == key).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn a_key_is_found_where_clients_put_it() {
        let of = |rows: &[(&'static str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in rows {
                headers.append(*name, HeaderValue::from_str(value).unwrap());
            }
            key_of(&headers).map(str::to_owned)
        };
        assert_eq!(of(&[("authorization", "Bearer ck-1")]).as_deref(), Some("ck-1"));
        assert_eq!(of(&[("authorization", "bEARER  ck-1")]).as_deref(), Some("ck-1"));
        assert_eq!(of(&[("x-api-key", "ck-1")]).as_deref(), Some("ck-1"));
        let both = [("x-api-key", "ck-1"), ("authorization", "Bearer ck-1")];
        assert_eq!(of(&both).as_deref(), Some("ck-1"));
        for none in [
            &[][..],
            &[("authorization", "Basic ck-1")],
            &[("authorization", "Bearer")],
            &[("authorization", "Bear\u{e9}r ck-1")],
            &[("x-api-key", "ck-1"), ("x-api-key", "ck-2")],
            &[("x-api-key", "ck-1"), ("authorization", "Bearer ck-2")],
        ] {
            assert_eq!(of(none), None, "{none:?}");
        }
    }
}
