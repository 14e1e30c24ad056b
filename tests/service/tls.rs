//! TLS over a real socket: who is let in, and what changes while the server runs.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clearance_client::credentials::IdentityPem;
use clearance_client::{ApiKey, Client, ConnectOptions, Error, TlsOptions};
use clearance_proto as api;
use clearance_proto::server_service_client::ServerServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use clearance_runtime::access::Role;
use clearance_runtime::settings::Settings;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{
    CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tonic::transport::{Channel, Endpoint};
use tower::service_fn;

use crate::access::KeyFile;
use crate::server::{Server, base64, soon};

type Authority = CertifiedIssuer<'static, KeyPair>;

/// A certificate with its key.
struct Identity {
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn identity(issuer: &Authority) -> Identity {
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, issuer).unwrap().der().clone();
    Identity { certificate, key }
}

/// The files of a server in a folder of their own.
struct Files(PathBuf);

impl Files {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("clearance-tls-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> Option<PathBuf> {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        Some(path)
    }

    fn show(&self, identity: &Identity) -> [Option<PathBuf>; 2] {
        let pem = pem(&identity.certificate);
        [self.write("crt", &pem), self.write("key", &identity.key.serialize_pem())]
    }

    fn settings(&self, identity: &Identity, clients: Option<&Authority>) -> Settings {
        let [tls_cert, tls_key] = self.show(identity);
        let tls_client_ca = clients.and_then(|issuer| self.write("ca", &issuer.pem()));
        Settings { tls_cert, tls_key, tls_client_ca, ..Settings::default() }
    }
}

/// Settings of a server that speaks TLS.
pub(crate) fn secured(name: &str) -> Settings {
    Files::new(name).settings(&identity(&authority(name)), None)
}

fn pem(der: &CertificateDer<'_>) -> String {
    let mut text = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for line in base64(der).as_bytes().chunks(64) {
        text += std::str::from_utf8(line).unwrap();
        text += "\n";
    }
    text + "-----END CERTIFICATE-----\n"
}

/// What a client trusts and shows.
fn client_config(trusted: &Authority, own: Option<&Identity>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.der().clone()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(rustls::DEFAULT_VERSIONS)
        .unwrap()
        .with_root_certificates(roots);
    let mut config = match own {
        Some(own) => {
            let key = PrivateKeyDer::try_from(own.key.serialize_der()).unwrap();
            builder.with_client_auth_cert(vec![own.certificate.clone()], key).unwrap()
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    config
}

/// A client that does not look at what the server shows.
pub(crate) fn trusting_all() -> ClientConfig {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Careless(provider.clone()));
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(rustls::DEFAULT_VERSIONS)
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth()
}

/// Takes every certificate.
#[derive(Debug)]
struct Careless(Arc<CryptoProvider>);

impl ServerCertVerifier for Careless {
    fn verify_server_cert(
        &self,
        _shown: &CertificateDer<'_>,
        _between: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, shown, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, shown, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

async fn connect(
    address: SocketAddr,
    config: Arc<ClientConfig>,
) -> Result<Channel, tonic::transport::Error> {
    let connector = TlsConnector::from(config);
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let dial = service_fn(move |_| {
        let connector = connector.clone();
        async move {
            let stream = TcpStream::connect(address).await?;
            let name = ServerName::try_from("localhost").unwrap();
            Ok::<_, std::io::Error>(TokioIo::new(connector.connect(name, stream).await?))
        }
    });
    endpoint.connect_with_connector(dial).await
}

/// Whether a call is answered over a new connection.
async fn is_served(address: SocketAddr, config: &ClientConfig) -> bool {
    let asked = async {
        let channel = connect(address, Arc::new(config.clone())).await.map_err(drop)?;
        let mut info = ServerServiceClient::new(channel);
        info.get_server_info(api::GetServerInfoRequest {}).await.map(drop).map_err(drop)
    };
    soon(asked).await.is_ok()
}

fn hang_up() {
    let own = rustix::process::getpid();
    rustix::process::kill_process(own, rustix::process::Signal::HUP).unwrap();
}

/// Asks again until it is as expected: files are read in the background.
async fn until(expected: bool, address: SocketAddr, config: &ClientConfig) {
    for _ in 0..200 {
        if is_served(address, config).await == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("a client is still {}", if expected { "kept out" } else { "let in" });
}

#[tokio::test]
async fn who_trusts_the_server_is_served_and_plain_text_is_told_so() {
    let (ours, other) = (authority("ours"), authority("other"));
    let files = Files::new("plain");
    let server = Server::secured(files.settings(&identity(&ours), None)).await;
    assert!(is_served(server, &client_config(&ours, None)).await);
    assert!(!is_served(server, &client_config(&other, None)).await);
    let mut stream = TcpStream::connect(server).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    soon(stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 505") && answer.contains("within TLS"), "{answer}");
    // HTTP/2 without TLS, noise, and silence end soon, and nobody else notices.
    for bytes in [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &[0x16, 3, 1, 0xff, 0xff], &[0; 64]] {
        let mut stream = TcpStream::connect(server).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        assert!(is_served(server, &client_config(&ours, None)).await);
    }
}

#[tokio::test]
async fn only_clients_of_the_authority_are_let_in() {
    let (ours, clients, other) = (authority("ours"), authority("clients"), authority("other"));
    let files = Files::new("mutual");
    let server = Server::secured(files.settings(&identity(&ours), Some(&clients))).await;
    let [good, bad] = [&clients, &other].map(identity);
    assert!(is_served(server, &client_config(&ours, Some(&good))).await);
    assert!(!is_served(server, &client_config(&ours, Some(&bad))).await);
    assert!(!is_served(server, &client_config(&ours, None)).await);
}

/// A certificate that ran out had to be replaced by a restart, which closed every session.
#[tokio::test]
async fn certificates_are_replaced_while_the_server_runs() {
    let (first, second) = (authority("first"), authority("second"));
    let files = Files::new("rotation");
    let server = Server::secured(files.settings(&identity(&first), None)).await;
    let [before, after] = [&first, &second].map(|trusted| client_config(trusted, None));
    assert!(is_served(server, &before).await && !is_served(server, &after).await);
    files.write("crt", "-----BEGIN CERTIFICATE-----\nnothing\n");
    hang_up();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(is_served(server, &before).await, "a bad file leaves the old one");
    files.show(&identity(&second));
    hang_up();
    until(true, server, &after).await;
    assert!(!is_served(server, &before).await);
}

/// A client that was let in once could resume its session for as long as its ticket was good, and
/// its streams went on for ever.
#[tokio::test]
async fn an_authority_that_is_removed_lets_nobody_in_and_ends_what_is_open() {
    let (ours, old, new) = (authority("ours"), authority("old"), authority("new"));
    let files = Files::new("removed");
    let server = Server::secured(files.settings(&identity(&ours), Some(&old))).await;
    let theirs = client_config(&ours, Some(&identity(&old)));
    let newcomer = client_config(&ours, Some(&identity(&new)));
    // One configuration, so that its client would resume what it could.
    assert!(is_served(server, &theirs).await && is_served(server, &theirs).await);
    let channel = connect(server, Arc::new(theirs.clone())).await.unwrap();
    let mut sessions = SessionServiceClient::new(channel);
    let open = api::OpenSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    sessions.open_session(open).await.unwrap();
    let watch = api::WatchSessionRequest { session_id: "s".to_owned(), ..Default::default() };
    let mut watched = sessions.watch_session(watch).await.unwrap().into_inner();
    soon(watched.message()).await.unwrap().expect("the state comes first");

    files.write("ca", &new.pem());
    hang_up();
    let ended = soon(watched.message()).await;
    assert!(!matches!(ended, Ok(Some(_))), "{ended:?}");
    until(true, server, &newcomer).await;
    assert!(!is_served(server, &theirs).await);
}

/// Everything at once, as a client on another machine has it.
#[tokio::test]
async fn the_client_shows_its_certificate_and_brings_its_key() {
    let (ours, clients) = (authority("ours"), authority("clients"));
    let files = Files::new("client");
    let mut keys = KeyFile::new("client");
    let key = keys.add("planner", "acme", Role::Query);
    let settings = files.settings(&identity(&ours), Some(&clients));
    let server = Server::secured(Settings { api_keys: Some(keys.path.clone()), ..settings }).await;
    let own = identity(&clients);
    let identity_pem =
        IdentityPem { certificates: pem(&own.certificate), key: own.key.serialize_pem() };
    let tls = TlsOptions {
        authorities_pem: ours.pem(),
        identity_pem: Some(identity_pem),
        server_name: Some("localhost".to_owned()),
    };
    let address = format!("https://{server}");
    let connect = async |api_key: Option<ApiKey>, tls: TlsOptions| {
        let options = ConnectOptions { api_key, tls: Some(tls), ..ConnectOptions::default() };
        let client = Client::connect_with(&[&address], options).await?;
        Ok::<_, Error>(client.server().get_server_info(api::GetServerInfoRequest {}).await?)
    };
    let key = ApiKey::new(key);
    soon(connect(Some(key.clone()), tls.clone())).await.unwrap();
    let refused = soon(connect(None, tls.clone())).await.unwrap_err();
    assert_eq!(refused.reason(), Some(api::ErrorReason::Unauthenticated));
    let bare = TlsOptions { identity_pem: None, ..tls };
    assert!(soon(connect(Some(key.clone()), bare.clone())).await.is_err());
    let shown = format!("{key:?} {bare:?} {:?}", KeyFile::new("x").path);
    assert!(!shown.contains("ck-"), "{shown}");
}
