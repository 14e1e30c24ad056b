//! What keeps strangers out: TLS and keys, and that the server is not reached without them unless
//! it is told so.

use std::net::SocketAddr;
use std::sync::Arc;

use clearance_runtime::access::{Access, KeysError, TokenRules};
use clearance_runtime::fresh::FromFiles;
use clearance_runtime::quotas::{Quotas, QuotasError};
use clearance_runtime::settings::Settings;
use clearance_transport::tls::{Tls, TlsError, TlsFiles};
use clearance_transport::web::{NoOrigin, Origins};

/// Why the server cannot be protected as the settings say, or not enough.
#[derive(Debug, thiserror::Error)]
pub enum ProtectionError {
    /// The certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The keys cannot be used.
    #[error("api_keys: {0}")]
    Keys(KeysError),
    /// The keys that tokens are signed with cannot be used.
    #[error("jwt_jwks: {0}")]
    Tokens(KeysError),
    /// The list of origins has something else in it.
    #[error("cors_origins: {0}")]
    Origins(#[from] NoOrigin),
    /// The quotas cannot be used.
    #[error("quotas: {0}")]
    Quotas(#[from] QuotasError),
    /// A setting lacks another one.
    #[error("{given} needs {missing}, too")]
    Incomplete {
        /// What is given.
        given: &'static str,
        /// What is missing.
        missing: &'static str,
    },
    /// TLS is to be spoken where nobody can listen in.
    #[error("tls_cert: a Unix socket does not speak TLS; leave it out, or listen on an address")]
    LocalTls,
    /// Other machines could call, and nothing keeps them out.
    #[error(
        "listen: {address} can be reached from other machines, without {missing}; give it, listen \
         on 127.0.0.1, or say insecure if whatever is around the server keeps strangers out"
    )]
    Exposed {
        /// Where the server listens.
        address: SocketAddr,
        /// What would keep strangers out.
        missing: &'static str,
    },
}

/// What keeps strangers out.
#[derive(Debug)]
pub struct Protection {
    /// Within which everything is said; none: nothing is.
    pub tls: Option<Tls>,
    /// Who may call.
    pub access: Access,
    /// What each tenant may have.
    pub quotas: Quotas,
    /// Whose pages may call.
    pub origins: Origins,
}

impl Protection {
    /// As the settings say, with the files that they name.
    pub fn of(settings: &Settings) -> Result<Self, ProtectionError> {
        let incomplete = |given, missing| ProtectionError::Incomplete { given, missing };
        let tls = match (&settings.tls_cert, &settings.tls_key) {
            (Some(certificates), Some(key)) => Some(Tls::from_files(TlsFiles {
                certificates: certificates.clone(),
                key: key.clone(),
                client_authorities: settings.tls_client_ca.clone(),
            })?),
            (Some(_), None) => return Err(incomplete("tls_cert", "tls_key")),
            (None, Some(_)) => return Err(incomplete("tls_key", "tls_cert")),
            (None, None) if settings.tls_client_ca.is_some() => {
                return Err(incomplete("tls_client_ca", "tls_cert"));
            }
            (None, None) => None,
        };
        let mut access = Access::open();
        if let Some(keys) = &settings.api_keys {
            access = access.with_keys(keys).map_err(ProtectionError::Keys)?;
        }
        if let Some(jwks) = &settings.jwt_jwks {
            access = access.with_tokens(jwks, rules(settings)?).map_err(ProtectionError::Tokens)?;
        }
        let quotas = match &settings.quotas {
            None => Quotas::default(),
            Some(_) if !access.asks_for_keys() => {
                return Err(incomplete("quotas", "api_keys or jwt_jwks"));
            }
            Some(file) => Quotas::of_file(file, access.clone())?,
        };
        let origins = Origins::of(&settings.cors_origins)?;
        Ok(Self { tls, access, quotas, origins })
    }

    /// Whether it is enough for who listens on this address, or on a Unix socket if there is none:
    /// that only this machine reaches, and nobody speaks TLS over it.
    pub fn suffices_for(
        &self,
        address: Option<SocketAddr>,
        settings: &Settings,
    ) -> Result<(), ProtectionError> {
        match address {
            Some(address) => self.suffices_at(address, settings),
            None if self.tls.is_some() => Err(ProtectionError::LocalTls),
            None => Ok(()),
        }
    }

    /// Whether it is enough for who listens on this address.
    pub fn suffices_at(
        &self,
        address: SocketAddr,
        settings: &Settings,
    ) -> Result<(), ProtectionError> {
        if settings.insecure || address.ip().to_canonical().is_loopback() {
            return Ok(());
        }
        let exposed = |missing| Err(ProtectionError::Exposed { address, missing });
        match &self.tls {
            None => exposed("TLS (tls_cert and tls_key)"),
            Some(_) if !self.access.asks_for_keys() && settings.tls_client_ca.is_none() => {
                exposed("a question who calls (api_keys, jwt_jwks or tls_client_ca)")
            }
            Some(_) => Ok(()),
        }
    }

    /// Whether calls without TLS are answered by a side port at this address: where nobody can
    /// listen in, and who calls is not told by certificates.
    pub fn takes_plain_calls(&self, address: SocketAddr, settings: &Settings) -> bool {
        let is_near = address.ip().to_canonical().is_loopback();
        (is_near || settings.insecure) && settings.tls_client_ca.is_none()
    }

    /// What is read again when its files change.
    pub fn files(&self) -> Vec<Arc<dyn FromFiles>> {
        let tls = self.tls.as_ref().map(Tls::files);
        tls.into_iter().chain(self.access.files()).chain(self.quotas.file()).collect()
    }
}

/// What tokens have to say. Without an issuer and an audience any token of the provider's would do,
/// whatever it was made for.
fn rules(settings: &Settings) -> Result<TokenRules, ProtectionError> {
    let incomplete = |missing| Err(ProtectionError::Incomplete { given: "jwt_jwks", missing });
    if settings.jwt_issuer.is_empty() {
        return incomplete("jwt_issuer");
    }
    if settings.jwt_audience.is_empty() {
        return incomplete("jwt_audience");
    }
    Ok(TokenRules {
        issuer: settings.jwt_issuer.clone(),
        audience: settings.jwt_audience.clone(),
        tenant_claim: settings.jwt_tenant_claim.clone(),
        role_claim: settings.jwt_role_claim.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that listened on all addresses answered whoever reached its port.
    #[test]
    fn who_can_be_reached_asks_who_calls_or_is_told_not_to() {
        let (tls, access, quotas) = (None, Access::open(), Quotas::default());
        let open = Protection { tls, access, quotas, origins: Origins::default() };
        let told = Settings { insecure: true, ..Settings::default() };
        for (address, is_near) in [
            ("127.0.0.1:1", true),
            ("127.8.0.1:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("0.0.0.0:1", false),
            ("[::]:1", false),
            ("10.0.0.1:1", false),
        ] {
            let address = address.parse().unwrap();
            assert_eq!(open.suffices_at(address, &Settings::default()).is_ok(), is_near);
            assert!(open.suffices_at(address, &told).is_ok());
        }
    }

    /// A key that goes over a network in plain text is everybody's.
    #[test]
    fn calls_without_tls_are_answered_where_nobody_can_listen_in() {
        let plain = |address: &str, settings: &Settings| {
            let (tls, access, quotas) = (None, Access::open(), Quotas::default());
            let open = Protection { tls, access, quotas, origins: Origins::default() };
            open.takes_plain_calls(address.parse().unwrap(), settings)
        };
        let told = Settings { insecure: true, ..Settings::default() };
        let mutual = Settings { tls_client_ca: Some("x.pem".into()), ..told.clone() };
        for (address, is_near) in [("127.0.0.1:1", true), ("[::1]:1", true), ("0.0.0.0:1", false)] {
            assert_eq!(plain(address, &Settings::default()), is_near, "{address}");
            assert!(plain(address, &told) && !plain(address, &mutual), "{address}");
        }
    }

    #[test]
    fn one_file_of_two_is_not_enough() {
        for (given, missing) in [("tls_cert", "tls_key"), ("tls_key", "tls_cert")] {
            let mut settings = Settings::default();
            let file = Some("x.pem".into());
            if given == "tls_cert" {
                settings.tls_cert = file
            } else {
                settings.tls_key = file
            }
            let error = Protection::of(&settings).unwrap_err().to_string();
            assert_eq!(error, format!("{given} needs {missing}, too"));
        }
        let settings = Settings { tls_client_ca: Some("x.pem".into()), ..Settings::default() };
        assert!(Protection::of(&settings).is_err());
    }
}
