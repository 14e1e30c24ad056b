//! TLS: the certificate that the server shows, and the authorities whose clients it lets in.
//!
//! Certificates change while the process runs: each new connection gets those of now, and one whose
//! client's authority is trusted no more is ended. No session is resumed: a ticket would let in a
//! client whose certificate is looked at no more (RFC 8446, section 2.2).

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::server::{
    NoServerSessionStorage, VerifierBuilderError, WebPkiClientVerifier,
};
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

use clearance_runtime::fresh::{Fresh, FromFiles, contents};

/// What is spoken inside, by its name in ALPN (RFC 9113, section 3.2).
const HTTP2: &[u8] = b"h2";

/// And on the side port (RFC 7301, section 6).
const HTTP1: &[u8] = b"http/1.1";

/// Where certificates are, as PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The server's certificate, then those that lead to its authority.
    pub certificates: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Authorities of which clients need a certificate; none: clients need none.
    pub client_authorities: Option<PathBuf>,
}

/// Why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{path}: {problem}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        problem: io::Error,
    },
    /// A file has not what it should.
    #[error("{path}: {problem}")]
    Pem {
        /// The file.
        path: String,
        /// What is wrong with it.
        problem: pem::Error,
    },
    /// A file has no certificate.
    #[error("{0}: there is no certificate in it")]
    NoCertificate(String),
    /// The certificates and the key cannot be used together.
    #[error("the certificates cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
    /// The authorities of clients cannot be used.
    #[error("the authorities of clients cannot be used: {0}")]
    Authorities(#[from] VerifierBuilderError),
}

/// The certificates of now; cheap to clone.
#[derive(Clone, Debug)]
pub struct Tls(Arc<TlsState>);

#[derive(Debug)]
struct TlsState {
    files: TlsFiles,
    now: watch::Sender<Certificates>,
    /// Of the contents that were read last, whether they could be used or not.
    read: std::sync::Mutex<Option<blake3::Hash>>,
}

/// What was read at a time.
#[derive(Clone, Debug)]
struct Certificates {
    config: Arc<ServerConfig>,
    /// The same for the side port.
    of_http1: Arc<ServerConfig>,
    clients: Option<Arc<dyn ClientCertVerifier>>,
}

/// What the files say, before it is understood.
struct Contents {
    certificates: Vec<u8>,
    key: Vec<u8>,
    client_authorities: Option<Vec<u8>>,
}

impl Tls {
    /// With the certificates of these files.
    pub fn from_files(files: TlsFiles) -> Result<Self, TlsError> {
        let found = Contents::read(&files)?;
        let read = Some(found.digest());
        let now = watch::Sender::new(Certificates::of(&files, &found)?);
        Ok(Self(Arc::new(TlsState { files, now, read: std::sync::Mutex::new(read) })))
    }

    /// What is read again when its files change.
    pub fn files(&self) -> Arc<dyn FromFiles> {
        self.0.clone()
    }

    /// Greets the client at the other end of a connection.
    pub(super) fn greet(
        &self,
        stream: TcpStream,
    ) -> impl Future<Output = io::Result<TlsStream<TcpStream>>> + use<> {
        let config = self.0.now.borrow().config.clone();
        async move { TlsAcceptor::from(config).accept(stream).await }
    }

    /// Greets a client of the side port.
    pub(super) fn greet_http1(
        &self,
        stream: TcpStream,
    ) -> impl Future<Output = io::Result<TlsStream<TcpStream>>> + use<> {
        let config = self.0.now.borrow().of_http1.clone();
        async move { TlsAcceptor::from(config).accept(stream).await }
    }

    /// Waits until the client that showed these certificates would be let in no more.
    pub(super) async fn until_refused(self, shown: Vec<CertificateDer<'static>>) {
        let mut now = self.0.now.subscribe();
        loop {
            if !now.borrow_and_update().lets_in(&shown) {
                return;
            }
            if now.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }
}

impl FromFiles for TlsState {
    fn what(&self) -> &'static str {
        "tls_cert, tls_key, tls_client_ca"
    }

    fn read_again(&self) -> Result<Fresh, String> {
        let mut read = self.read.lock().expect("nothing panics while holding it");
        let found = Contents::read(&self.files);
        let digest = found.as_ref().ok().map(Contents::digest);
        if digest == *read {
            return Ok(Fresh::AsBefore);
        }
        *read = digest;
        let certificates = found.and_then(|found| Certificates::of(&self.files, &found));
        self.now.send_replace(certificates.map_err(|error| error.to_string())?);
        Ok(Fresh::Changed)
    }
}

impl Contents {
    fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        Ok(Self {
            certificates: read(&files.certificates)?,
            key: read(&files.key)?,
            client_authorities: files.client_authorities.as_deref().map(read).transpose()?,
        })
    }

    fn digest(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let files = [Some(&self.certificates), Some(&self.key), self.client_authorities.as_ref()];
        for file in files.into_iter().flatten() {
            hasher.update(&(file.len() as u64).to_le_bytes()).update(file);
        }
        hasher.finalize()
    }
}

impl Certificates {
    fn of(files: &TlsFiles, found: &Contents) -> Result<Self, TlsError> {
        let bad_pem = |path: &Path| {
            let path = path.display().to_string();
            move |problem| TlsError::Pem { path, problem }
        };
        let provider = Arc::new(ring::default_provider());
        let own = certificates(&files.certificates, &found.certificates)?;
        let key = PrivateKeyDer::from_pem_slice(&found.key).map_err(bad_pem(&files.key))?;
        let authorities = files.client_authorities.as_ref().zip(found.client_authorities.as_ref());
        let clients = authorities.map(|(path, pem)| verifier(path, pem, &provider)).transpose()?;
        let builder = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(rustls::DEFAULT_VERSIONS)?;
        let builder = match &clients {
            Some(clients) => builder.with_client_cert_verifier(clients.clone()),
            None => builder.with_no_client_auth(),
        };
        let mut config = builder.with_single_cert(own, key)?;
        config.alpn_protocols = vec![HTTP2.to_vec()];
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        let mut of_http1 = config.clone();
        of_http1.alpn_protocols = vec![HTTP1.to_vec()];
        Ok(Self { config: Arc::new(config), of_http1: Arc::new(of_http1), clients })
    }

    /// Whether a client that has shown these certificates would be let in today.
    fn lets_in(&self, shown: &[CertificateDer<'static>]) -> bool {
        let Some(clients) = &self.clients else { return true };
        let Some((own, between)) = shown.split_first() else { return false };
        clients.verify_client_cert(own, between, UnixTime::now()).is_ok()
    }
}

fn read(path: impl AsRef<Path>) -> Result<Vec<u8>, TlsError> {
    let path = path.as_ref();
    let unreadable = |problem| TlsError::Unreadable { path: path.display().to_string(), problem };
    contents(path).map_err(unreadable)
}

fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let path = path.display().to_string();
    let all = all.map_err(|problem| TlsError::Pem { path: path.clone(), problem })?;
    if all.is_empty() { Err(TlsError::NoCertificate(path)) } else { Ok(all) }
}

fn verifier(
    path: &Path,
    pem: &[u8],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(path, pem)? {
        roots.add(authority)?;
    }
    Ok(WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build()?)
}
