//! Tokens: which are taken, which never, and what ends them.

use jsonwebtoken::get_current_timestamp;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};

use super::file;
use crate::access::{Access, Grant, Role, TokenRules};
use crate::fresh::Fresh;

/// A key of 2,048 bits whose other half nobody has, and a token that it has signed, which ends in
/// 2100.
const RSA_MODULUS: &str = concat!(
    "o2mYRihCrvSczKtlmFz3ELhOW_dYmvEC-4UMIi4RDmMGl83KPAI3fpi9-HRYkKzQmGpkqhAVZ1eEzSxX",
    "H1rz4xVK3ZyBC757uDstjaTWY2PP2usxcSbvfTvTPLCk7YJSeH4zovMofCTSTBPIb-DwYeQd6dJbs31U",
    "3EDIxLw8KreUMilA8Rs7Lj-X5housiyo2z39RIM9GXnYqFLjckAjFYmGv-CX851CMsPk2Y26ZtNL4mK2",
    "vKlzjaB2MUckaMb1msA8BzKuRlMXJf1N5GGiDiXdK4Ju--S-oIMn8oRJCHS43NuDj_WcGHzzD6zn-3gz",
    "U059N2FmALilg7gjziiqKw",
);

const RSA_TOKEN: &str = concat!(
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InJzYSJ9.eyJpc3MiOiJodHRwczovL2lkLmV",
    "4YW1wbGUiLCJhdWQiOiJjbGVhcmFuY2UiLCJzdWIiOiJyb2JvdC03IiwidGVuYW50IjoiYWNtZSIsInJ",
    "vbGUiOiJ3cml0ZSIsImV4cCI6NDEwMjQ0NDgwMH0.Qm9_U9LnBLMf-UvON3kjSpS_m7t9O7h_N3_wAaF",
    "yeS09XMqr5cK73sjyvq5LQG5bLhKJVsIiqfcPGLbls6f4ddvY2BEmDdpr057Ych9euxMY721LUB6Ths1",
    "Sp5pS416bbY_e0vVMUgODihisCPOAr0fBjZfyYr1rezfkRR0HiJySjfg7go3uU97k26CM69jCUc7sP4w",
    "Ggn496n4H7uV9YM_j6x7Kh1WEdjgroQTQeB2Zr3-rPEtWAwTWCx5_aOPkAmiIcDwmnxintfvmZflPkEx",
    "ombZmjmjNupBWxtR-yiCAEcYKhTWrY_JyWNdHdO3arHoCtOwAgB8VXiKuoiTexA",
);

pub(super) fn rules() -> TokenRules {
    TokenRules {
        issuer: "https://id.example".to_owned(),
        audience: "clearance".to_owned(),
        tenant_claim: "tenant".to_owned(),
        role_claim: "role".to_owned(),
    }
}

/// Bytes as tokens write them (RFC 4648, section 5).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digits = bytes.chunks(3).flat_map(|three| {
        let word = three.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
        let word = word << (8 * (3 - three.len()));
        (0..=three.len()).map(move |k| char::from(DIGITS[(word >> (18 - 6 * k) & 63) as usize]))
    });
    digits.collect()
}

/// Signs tokens, as a provider does.
pub(super) struct Provider {
    ecdsa: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
}

impl Provider {
    pub(super) fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let ecdsa = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap();
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        Self { ecdsa, ed25519: Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap() }
    }

    pub(super) fn jwks(&self) -> Value {
        let point = self.ecdsa.public_key().as_ref();
        let (x, y) = (base64(&point[1..33]), base64(&point[33..]));
        let ed = base64(self.ed25519.public_key().as_ref());
        json!({"keys": [
            {"kty": "EC", "crv": "P-256", "kid": "ec", "x": x, "y": y, "alg": "ES256"},
            {"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": ed},
            {"kty": "RSA", "kid": "rsa", "n": RSA_MODULUS, "e": "AQAB", "use": "sig"},
        ]})
    }

    pub(super) fn token(&self, header: &Value, claims: &Value) -> String {
        let signed = format!(
            "{}.{}",
            base64(header.to_string().as_bytes()),
            base64(claims.to_string().as_bytes())
        );
        let signature = if header["alg"] == "EdDSA" {
            self.ed25519.sign(signed.as_bytes()).as_ref().to_vec()
        } else {
            let signature = self.ecdsa.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
            signature.as_ref().to_vec()
        };
        format!("{signed}.{}", base64(&signature))
    }

    fn access(&self, name: &str) -> Access {
        let path = file(name, &self.jwks().to_string());
        Access::open().with_tokens(&path, rules()).unwrap()
    }
}

pub(super) fn claims() -> Value {
    json!({
        "iss": "https://id.example",
        "aud": "clearance",
        "sub": "planner",
        "tenant": "acme",
        "role": "write",
        "exp": get_current_timestamp() + 600,
    })
}

/// The claims, but for one.
fn but(name: &str, value: Value) -> Value {
    let mut claims = claims();
    let all = claims.as_object_mut().unwrap();
    all.remove(name);
    if !value.is_null() {
        all.insert(name.to_owned(), value);
    }
    claims
}

#[test]
fn tokens_of_every_algorithm_are_taken_and_say_whose_they_are() {
    let provider = Provider::new();
    let access = provider.access("tokens");
    assert!(access.asks_for_keys());
    let es256 = provider.token(&json!({"alg": "ES256", "kid": "ec"}), &claims());
    let eddsa = provider.token(&json!({"alg": "EdDSA", "kid": "ed"}), &claims());
    for token in [&*es256, &*eddsa, RSA_TOKEN] {
        let grant = access.grant(token).unwrap_or_else(|_| panic!("{token}"));
        assert_eq!((&*grant.tenant, grant.role), ("acme", Role::Write));
        assert!(!grant.is_over());
        assert_eq!(access.grant(token).unwrap().principal, grant.principal, "when it is known");
    }
    let subject = |token: &str| access.grant(token).unwrap().name.to_string();
    assert_eq!((subject(&es256), subject(RSA_TOKEN)), ("planner".into(), "robot-7".into()));
    // The same tenant by a key is the same principal.
    let (key, line) = crate::access::new_key_line("k", "acme", Role::Query).unwrap();
    let access = access.with_keys(&file("tokens-keys", &line.to_string())).unwrap();
    let both = [&*key, &*es256].map(|key| access.grant(key).unwrap().principal);
    assert_eq!(both[0], both[1]);
}

#[test]
fn roles_are_named_by_a_text_or_a_list() {
    let provider = Provider::new();
    let access = provider.access("token-roles");
    let header = json!({"alg": "ES256", "kid": "ec"});
    for (value, role) in [
        (Value::Null, Some(Role::Query)),
        (json!("admin"), Some(Role::Admin)),
        (json!("openid write query"), Some(Role::Write)),
        (json!(["other", "query"]), Some(Role::Query)),
        (json!("owner"), None),
        (json!([]), None),
        (json!(7), None),
    ] {
        let token = provider.token(&header, &but("role", value.clone()));
        assert_eq!(access.grant(&token).ok().map(|grant| grant.role), role, "{value}");
    }
}

/// The mistakes that checkers of tokens are known for (RFC 8725).
#[test]
fn tokens_that_are_not_meant_for_this_server_are_never_taken() {
    let provider = Provider::new();
    let access = provider.access("token-lies");
    let header = json!({"alg": "ES256", "kid": "ec"});
    let now = get_current_timestamp();
    for (what, claims) in [
        ("ended", but("exp", json!(now - 60))),
        ("without end", but("exp", Value::Null)),
        ("an end that is none", but("exp", json!("later"))),
        ("not yet", but("nbf", json!(now + 600))),
        ("another audience", but("aud", json!("another"))),
        ("no audience", but("aud", Value::Null)),
        ("another issuer", but("iss", json!("https://id.example.org"))),
        ("no issuer", but("iss", Value::Null)),
        ("no tenant", but("tenant", Value::Null)),
        ("an empty tenant", but("tenant", json!(""))),
        ("a tenant of two words", but("tenant", json!("a b"))),
        ("a number for a tenant", but("tenant", json!(7))),
    ] {
        assert!(access.grant(&provider.token(&header, &claims)).is_err(), "{what}");
    }
    for (what, header) in [
        ("alg: none", json!({"alg": "none", "kid": "ec"})),
        ("a secret in place of a key", json!({"alg": "HS256", "kid": "ec"})),
        ("another algorithm", json!({"alg": "ES384", "kid": "ec"})),
        ("another key", json!({"alg": "ES256", "kid": "ed"})),
        ("a key that there is not", json!({"alg": "ES256", "kid": "gone"})),
        ("no key, of three", json!({"alg": "ES256"})),
        ("an extension", json!({"alg": "ES256", "kid": "ec", "crit": ["until"], "until": 7})),
        ("a plain body", json!({"alg": "ES256", "kid": "ec", "crit": ["b64"], "b64": false})),
    ] {
        assert!(access.grant(&provider.token(&header, &claims())).is_err(), "{what}");
    }
    let good = provider.token(&header, &claims());
    assert!(access.grant(&good).is_ok());
    let [head, body, signature] = good.split('.').collect::<Vec<_>>()[..] else { panic!() };
    let other = base64(but("tenant", json!("bolt")).to_string().as_bytes());
    for (what, token) in [
        ("another's body", format!("{head}.{other}.{signature}")),
        ("no signature", format!("{head}.{body}.")),
        ("two parts", format!("{head}.{body}")),
        ("four parts", format!("{good}.x")),
        ("another provider's", Provider::new().token(&header, &claims())),
        ("no token", "a.b.c".to_owned()),
        ("much", format!("{good}{}", "a".repeat(1 << 20))),
    ] {
        assert!(access.grant(&token).is_err(), "{what}");
    }
    // What a signature of ECDSA is for one algorithm, its zeros are for all (CVE-2022-21449).
    let zeros = base64(&[0; 64]);
    assert!(access.grant(&format!("{head}.{body}.{zeros}")).is_err());
}

#[tokio::test]
async fn keys_that_the_provider_gives_up_end_what_their_tokens_opened() {
    let (old, new) = (Provider::new(), Provider::new());
    let access = old.access("rotated");
    let header = json!({"alg": "ES256", "kid": "ec"});
    let first = old.token(&header, &claims());
    let rsa: Grant = access.grant(RSA_TOKEN).unwrap();
    let grant = access.grant(&first).unwrap();
    let files = access.files().remove(0);
    assert_eq!(files.read_again(), Ok(Fresh::AsBefore));
    file("rotated", "{");
    assert!(files.read_again().is_err() && !grant.is_over());
    file("rotated", &new.jwks().to_string());
    assert_eq!(files.read_again(), Ok(Fresh::Changed));
    grant.clone().until_over().await;
    assert!(grant.is_over() && !rsa.is_over(), "the key of the other one stays");
    assert!(access.grant(&first).is_err(), "though it was known");
    assert!(access.grant(&new.token(&header, &claims())).is_ok());
}

#[test]
fn lists_with_keys_that_cannot_be_used_are_refused() {
    for (keys, words) in [
        (json!([]), "no keys"),
        (json!([{"kty": "oct", "k": "AQAB"}]), "is a secret"),
        (json!([{"kty": "EC", "crv": "P-521", "x": "AQAB", "y": "AQAB"}]), "not supported"),
        (
            json!([{"kty": "RSA", "n": RSA_MODULUS, "e": "AQAB", "alg": "PS512"}]),
            "another algorithm",
        ),
        (json!({}), "no list of keys"),
    ] {
        let path = file("bad-jwks", &json!({"keys": keys}).to_string());
        let error = Access::open().with_tokens(&path, rules()).unwrap_err().to_string();
        assert!(error.contains(words), "{keys}: {error}");
    }
}
