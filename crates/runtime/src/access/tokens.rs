//! Tokens of an identity provider (JWT, RFC 7519), checked against the keys of a list (JWKS, RFC
//! 7517): who signed them, for whom, until when; then whose calls they are for, and which.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use serde_json::{Map, Value};

use super::keyring::{TenantNumbers, check_name};
use super::{Grant, KeysError, Role, signatures};
use crate::latch::{Latch, LatchSetter};

/// Clocks may differ by so much, seconds.
const LEEWAY_SECONDS: u64 = 30;

/// Characters of a subject that the log shows.
const NAME_CHARS_SHOWN: usize = 64;

/// A token has as many bytes at most: more are not looked at.
const TOKEN_BYTES_MAX: usize = 8 << 10;

/// What a token has to say to be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRules {
    /// Who issues them (`iss`).
    pub issuer: String,
    /// For whom they have to be issued (`aud`).
    pub audience: String,
    /// The claim that names the tenant.
    pub tenant_claim: String,
    /// The claim that names the role, or a list of roles; a token without it is for asking alone.
    pub role_claim: String,
}

/// The provider's keys in force.
#[derive(Debug)]
pub(super) struct TokenKeys(Vec<TokenKey>);

#[derive(Debug)]
struct TokenKey {
    jwk: Jwk,
    key: DecodingKey,
    algorithm: Algorithm,
    revoked: Latch,
    /// Set when the provider's list has the key no more.
    revokes: Arc<LatchSetter>,
}

impl TokenKeys {
    /// The keys of a list, after those of before: whoever was let in by one that is gone is so no
    /// more.
    pub(super) fn parse(text: &str, before: &Self) -> Result<Self, KeysError> {
        signatures::install();
        let set: JwkSet = serde_json::from_str(text)
            .map_err(|error| KeysError::Provider(format!("is no list of keys: {error}")))?;
        let keys = set.keys.into_iter().enumerate().map(|(index, jwk)| {
            let known = before.0.iter().find(|known| known.jwk == jwk);
            let bad = |problem: &str| KeysError::Provider(format!("keys[{index}] {problem}"));
            TokenKey::new(jwk, known).map_err(bad)
        });
        let keys: Vec<TokenKey> = keys.collect::<Result<_, _>>()?;
        if keys.is_empty() {
            return Err(KeysError::Empty);
        }
        for gone in before.0.iter().filter(|old| !keys.iter().any(|new| new.jwk == old.jwk)) {
            gone.revokes.set();
        }
        Ok(Self(keys))
    }

    /// Before the first list was read.
    pub(super) fn none() -> Self {
        Self(Vec::new())
    }

    /// Whether a token names a key that the list does not have.
    pub(super) fn lacks_key_of(&self, token: &str) -> bool {
        let header = (token.len() <= TOKEN_BYTES_MAX).then(|| decode_header(token).ok());
        let named = header.flatten().and_then(|header| header.kid);
        named.is_some_and(|named| {
            !self.0.iter().any(|key| key.jwk.common.key_id.as_ref() == Some(&named))
        })
    }

    /// What a token allows.
    pub(super) fn grant(
        &self,
        token: &str,
        rules: &TokenRules,
        tenants: &Mutex<TenantNumbers>,
    ) -> Option<Grant> {
        if token.len() > TOKEN_BYTES_MAX {
            return None;
        }
        let header = decode_header(token).ok()?;
        // Whoever does not understand an extension that is critical refuses the token, and none is
        // understood here. (RFC 7515, section 4.1.11)
        if header.crit.is_some() {
            return None;
        }
        let key = self.0.iter().find(|key| match &header.kid {
            Some(kid) => key.jwk.common.key_id.as_ref() == Some(kid),
            None => self.0.len() == 1,
        })?;
        let mut validation = Validation::new(key.algorithm);
        validation.set_audience(&[&rules.audience]);
        validation.set_issuer(&[&rules.issuer]);
        validation.set_required_spec_claims(&["exp", "aud", "iss"]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY_SECONDS;
        let claims = decode::<Map<String, Value>>(token, &key.key, &validation).ok()?.claims;
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let tenant = text(&rules.tenant_claim)?;
        check_name("tenant", tenant).ok()?;
        Some(Grant {
            name: text("sub")
                .unwrap_or_default()
                .chars()
                .take(NAME_CHARS_SHOWN)
                .collect::<String>()
                .into(),
            principal: tenants
                .lock()
                .expect("nothing panics while holding it")
                .principal(tenant)?,
            tenant: tenant.into(),
            role: role(claims.get(&rules.role_claim))?,
            revoked: key.revoked.clone(),
            until: Some(instant_of(claims.get("exp")?)?),
        })
    }
}

/// The greatest role of those that are named; one that is named otherwise is none.
fn role(claim: Option<&Value>) -> Option<Role> {
    match claim {
        None => Some(Role::Query),
        Some(Value::String(name)) => name.split(' ').filter_map(Role::named).max(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).filter_map(Role::named).max()
        }
        Some(_) => None,
    }
}

/// When a token ends, with what clocks may differ by.
fn instant_of(seconds: &Value) -> Option<Instant> {
    let seconds = seconds.as_f64().filter(|seconds| *seconds >= 0.0 && *seconds < 1e12)?;
    let end = UNIX_EPOCH + Duration::from_secs_f64(seconds) + Duration::from_secs(LEEWAY_SECONDS);
    let left = end.duration_since(SystemTime::now()).ok()?;
    // What ends in a hundred years ends in thirty: an instant may not be written otherwise.
    Instant::now().checked_add(left.min(Duration::from_secs(30 * 365 * 86_400)))
}

impl TokenKey {
    fn new(jwk: Jwk, known: Option<&Self>) -> Result<Self, &'static str> {
        let algorithm = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => Algorithm::RS256,
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
                Algorithm::ES256
            }
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P384 => {
                Algorithm::ES384
            }
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
                Algorithm::EdDSA
            }
            AlgorithmParameters::OctetKey(_) => {
                return Err("is a secret: whoever checks tokens with it could make them");
            }
            AlgorithmParameters::EllipticCurve(_)
            | AlgorithmParameters::OctetKeyPair(_)
            | AlgorithmParameters::Other(_)
            | _ => {
                return Err(
                    "is of a kind that is not supported: RS256, ES256, ES384 and EdDSA are",
                );
            }
        };
        let named = jwk.common.key_algorithm.map(|named| named.to_string());
        if named.is_some_and(|named| named != format!("{algorithm:?}")) {
            return Err(
                "names another algorithm than RS256, ES256, ES384 or EdDSA, as its kind is",
            );
        }
        let key = DecodingKey::from_jwk(&jwk).map_err(|_| "has numbers that are none")?;
        let (revokes, revoked) = match known {
            Some(known) => (known.revokes.clone(), known.revoked.clone()),
            None => {
                let (revokes, revoked) = Latch::new();
                (Arc::new(revokes), revoked)
            }
        };
        Ok(Self { jwk, key, algorithm, revoked, revokes })
    }
}

/// Tokens that were found good, by their digests: a signature takes longer to check than many a
/// question to answer.
#[derive(Debug, Default)]
pub(super) struct KnownTokens(HashMap<[u8; 32], Grant>);

/// So many tokens are kept.
const KNOWN_MAX: usize = 4_096;

impl KnownTokens {
    /// The grant of a token, as long as it holds.
    pub(super) fn get(&self, digest: &blake3::Hash) -> Option<Grant> {
        self.0.get(digest.as_bytes()).filter(|grant| !grant.is_over()).cloned()
    }

    /// Keeps a grant; where there are too many, all are found out about again.
    pub(super) fn keep(&mut self, digest: &blake3::Hash, grant: &Grant) {
        if self.0.len() >= KNOWN_MAX {
            self.0.clear();
        }
        self.0.insert(*digest.as_bytes(), grant.clone());
    }
}
