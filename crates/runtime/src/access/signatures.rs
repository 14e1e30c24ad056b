//! Signatures of tokens, checked by `ring`, which TLS has, too: one library for all that is secret.
//!
//! Each algorithm is named by the key, and never by the token: a token that says `none`, or takes a
//! public key for a secret one, finds nothing here (RFC 8725, section 3.1).

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result, new_error};
use jsonwebtoken::signature::{Error, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

/// Only checks: tokens are signed elsewhere.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: no_signer,
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// From now on tokens of this process are checked so.
pub(super) fn install() {
    // It may have been done before.
    let _ = PROVIDER.install_default();
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>> {
    Err(new_error(ErrorKind::UnsupportedAlgorithm))
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    if key.family() != algorithm.family() {
        return Err(new_error(ErrorKind::InvalidAlgorithm));
    }
    Ok(Box::new(Check { algorithm: *algorithm, key: key.clone() }))
}

/// A key with the algorithm that it is for.
struct Check {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for Check {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let of_points = |algorithm: &'static dyn VerificationAlgorithm| {
            let key = self.key.try_get_as_bytes().map_err(|_| Error::new())?;
            let key = UnparsedPublicKey::new(algorithm, key);
            key.verify(message, signature).map_err(|_| Error::new())
        };
        match (self.algorithm, self.key.kind()) {
            (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                let key = RsaPublicKeyComponents { n, e };
                let algorithm = &RSA_PKCS1_2048_8192_SHA256;
                key.verify(algorithm, message, signature).map_err(|_| Error::new())
            }
            (Algorithm::ES256, _) => of_points(&ECDSA_P256_SHA256_FIXED),
            (Algorithm::ES384, _) => of_points(&ECDSA_P384_SHA384_FIXED),
            (Algorithm::EdDSA, _) => of_points(&ED25519),
            _ => Err(Error::new()),
        }
    }
}

impl JwtVerifier for Check {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
