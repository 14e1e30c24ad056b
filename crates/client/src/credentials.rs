//! What a client shows to servers that ask who calls, and whom it trusts.

use std::fmt;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};
use tonic::{Request, Status};

use crate::error::Error;
use crate::readable::ReadableChannel;

/// A connection over which every call brings the key, and where it is to go, if there is such.
pub type KeyedChannel = InterceptedService<ReadableChannel, BringKey>;

/// Puts a key, and what a proxy routes by, into the headers of each call.
#[derive(Clone, Debug, Default)]
pub struct BringKey {
    key: Option<MetadataValue<Ascii>>,
    route: Option<MetadataValue<Ascii>>,
}

/// The header that proxies route by.
const ROUTE: &str = "clearance-session";

/// An API key. It is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// Whom a client trusts, and what it shows, where the addresses begin with `https`.
#[derive(Clone, Debug, Default)]
pub struct TlsOptions {
    /// The authorities of servers, PEM: no other is trusted.
    pub authorities_pem: String,
    /// The client's own certificate and its key, PEM, for servers that ask for them.
    pub identity_pem: Option<IdentityPem>,
    /// The name that the server's certificate has; missing: that of the address.
    pub server_name: Option<String>,
}

/// A certificate and its private key, PEM. They are not shown by `Debug`.
#[derive(Clone)]
pub struct IdentityPem {
    /// The certificate, then those that lead to its authority.
    pub certificates: String,
    /// The private key.
    pub key: String,
}

impl ApiKey {
    /// A key as `clearance key` writes it.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}

impl fmt::Debug for IdentityPem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdentityPem(..)")
    }
}

impl BringKey {
    pub(crate) fn of(key: Option<&ApiKey>, route: Option<&str>) -> Result<Self, Error> {
        let value = |text: &str| {
            let value = text.parse::<MetadataValue<Ascii>>();
            value
                .map_err(|_| Error::Protocol("the key or the route is none that a header may have"))
        };
        let mut key = key.map(|ApiKey(key)| value(&format!("Bearer {key}"))).transpose()?;
        key.iter_mut().for_each(|key| key.set_sensitive(true));
        Ok(Self { key, route: route.map(value).transpose()? })
    }
}

impl Interceptor for BringKey {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(key) = &self.key {
            request.metadata_mut().insert("authorization", key.clone());
        }
        if let Some(route) = &self.route {
            request.metadata_mut().insert(ROUTE, route.clone());
        }
        Ok(request)
    }
}

/// A call about a session, which proxies route by its id unless the client has a route of its own.
pub(crate) fn routed<T>(session_id: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    // An id that is none is refused by the server, with its field.
    if let Ok(id) = session_id.parse::<MetadataValue<Ascii>>()
        && !session_id.is_empty()
    {
        request.metadata_mut().insert(ROUTE, id);
    }
    request
}

impl TlsOptions {
    pub(crate) fn to_config(&self) -> ClientTlsConfig {
        let authorities = Certificate::from_pem(&self.authorities_pem);
        let mut config = ClientTlsConfig::new().ca_certificate(authorities);
        if let Some(own) = &self.identity_pem {
            config = config.identity(Identity::from_pem(&own.certificates, &own.key));
        }
        match &self.server_name {
            Some(name) => config.domain_name(name),
            None => config,
        }
    }
}
