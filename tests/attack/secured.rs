//! The same rows against a server that speaks TLS and asks who calls, each address a tenant of its
//! own: `CLEARANCE_ATTACK_SECURED=1`. And what strangers send to it: wrong keys, tokens that are
//! none, and handshakes that break off.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use clearance_runtime::access::{Role, new_key_line};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::questions::{about_a_hull, ball, cubes_apart, register, turning};
use crate::row::row_on;
use crate::server::{Client, Start};
use crate::watch::Bounds;

/// Says that rows are run so; the process of the watchers is told the folder.
pub(crate) const SECURED: &str = "CLEARANCE_ATTACK_SECURED";

/// The address of whoever says none.
const USUAL: [u8; 4] = [127, 0, 0, 1];

/// What a server is started with, and what its clients bring.
#[derive(Debug)]
pub(crate) struct Secrets {
    folder: PathBuf,
    authority: String,
    keys: HashMap<[u8; 4], String>,
}

/// Brings a key with each call, if there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bring(Option<MetadataValue<Ascii>>);

impl Interceptor for Bring {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(key) = &self.0 {
            request.metadata_mut().insert("authorization", key.clone());
        }
        Ok(request)
    }
}

/// Whether all rows are run so.
pub(crate) fn is_asked_for() -> bool {
    std::env::var_os(SECURED).is_some()
}

/// The secrets of this run.
pub(crate) fn secrets() -> &'static Secrets {
    static SECRETS: OnceLock<Secrets> = OnceLock::new();
    SECRETS.get_or_init(|| {
        let told = std::env::var_os(SECURED).map(PathBuf::from);
        match told.filter(|folder| folder.is_absolute()) {
            Some(folder) => Secrets::read(folder),
            None => Secrets::make(),
        }
    })
}

impl Secrets {
    fn make() -> Self {
        let folder = std::env::temp_dir().join(format!("clearance-attack-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &authority).unwrap();
        let (mut lines, mut plain) = (String::new(), String::new());
        for third in 0..=10_u8 {
            for last in 0..=255_u8 {
                let address = [127, 0, third, last];
                let name = format!("t-{third}-{last}");
                let role = if address == USUAL { Role::Admin } else { Role::Write };
                let (key, line) = new_key_line(&name, &name, role).unwrap();
                writeln!(lines, "{line}").unwrap();
                writeln!(plain, "{third} {last} {key}").unwrap();
            }
        }
        for (name, text) in [
            ("authority", authority.pem()),
            ("crt", certificate.pem()),
            ("key", key.serialize_pem()),
            ("lines", lines),
            ("keys", plain),
        ] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        Self::read(folder)
    }

    fn read(folder: PathBuf) -> Self {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let (authority, keys) = (text("authority"), text("keys"));
        let of_line = |line: &str| {
            let [third, last, key] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            ([127, 0, third.parse().unwrap(), last.parse().unwrap()], key.to_owned())
        };
        let keys = keys.lines().map(of_line).collect();
        Self { folder, authority, keys }
    }

    /// The folder that the files are in.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The flags of a server.
    pub(crate) fn flags(&self) -> Vec<String> {
        let files = [("--tls-cert", "crt"), ("--tls-key", "key"), ("--api-keys", "lines")];
        let path = |name: &str| self.folder.join(name).display().to_string();
        files.into_iter().flat_map(|(flag, name)| [flag.to_owned(), path(name)]).collect()
    }

    /// A server, by an address of this machine.
    pub(crate) fn endpoint(&self, to: SocketAddr) -> Endpoint {
        let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&self.authority));
        let endpoint = Channel::from_shared(format!("https://{to}")).unwrap();
        endpoint.tls_config(tls.domain_name("localhost")).unwrap()
    }

    /// What the tenant of an address brings.
    pub(crate) fn bring(&self, from: Option<IpAddr>) -> Bring {
        let from = match from {
            Some(IpAddr::V4(address)) => address.octets(),
            Some(IpAddr::V6(_)) | None => USUAL,
        };
        let key = self.keys.get(&from).unwrap_or_else(|| panic!("no key for {from:?}"));
        Bring(Some(format!("Bearer {key}").parse().unwrap()))
    }
}

/// What is no key, and what is no token.
const WRONG: [&str; 6] = [
    "Bearer ck-0000000000000000000000000000000000000000000000000000000000000000",
    "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiIsInJvbGUiOiJhZG1pbiJ9.",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZG1pbiJ9.c2lnbmF0dXJl",
    "Bearer ",
    "Basic YWRtaW46YWRtaW4=",
    "\u{7f}",
];

/// Calls with what is no key; each has to be refused, and costs the server next to nothing.
pub(crate) async fn wrong_keys(channel: Channel, count: usize) {
    for k in 0..count {
        let text = WRONG[k % WRONG.len()];
        let key: Option<MetadataValue<Ascii>> = text.parse().ok();
        let bring = move |mut request: Request<()>| {
            if let Some(key) = &key {
                request.metadata_mut().insert("authorization", key.clone());
            }
            Ok::<_, Status>(request)
        };
        let mut queries =
            clearance_proto::query_service_client::QueryServiceClient::with_interceptor(
                channel.clone(),
                bring,
            );
        match queries.check_collision(about_a_hull(2_000)).await {
            Ok(_) => panic!("{text:?} was let in"),
            Err(status) => {
                let codes = [Code::Unauthenticated, Code::Unavailable, Code::Unknown];
                // Where bodies of refused calls keep arriving, the connection is closed.
                let is_closed = status.message().starts_with("h2 protocol error");
                let is_refused = codes.contains(&status.code()) || status.code() == Code::Cancelled;
                assert!(is_refused || is_closed, "{text:?}: {status:?}");
            }
        }
    }
}

/// A handshake that breaks off, or is none, by number.
pub(crate) fn broken_handshake(to: SocketAddr, kind: u64) {
    let Ok(mut stream) = TcpStream::connect_timeout(&to, Duration::from_secs(1)) else { return };
    // The head of a hello of 512 bytes, all of which may not come.
    let hello = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];
    let said: Vec<u8> = match kind % 6 {
        0 => hello.to_vec(),
        1 => [&hello[..], &[0xaa; 505]].concat(),
        // A record of the greatest length, of nothing.
        2 => [&[0x16, 3, 1, 0x40, 0][..], &[0; 0x4000]].concat(),
        3 => b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec(),
        // An alert, and application data, before anything else.
        4 => vec![0x15, 3, 3, 0, 2, 2, 40, 0x17, 3, 3, 0, 1, 0],
        _ => (0..2_000_u32).map(|k| k.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect(),
    };
    // The server may close it meanwhile, as it should.
    let _ = stream.write_all(&said);
    if kind.is_multiple_of(2) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn secured() -> Start {
    Start { is_secured: true, ..Start::default() }
}

/// What a stranger can do costs nobody else anything.
#[test]
fn strangers_with_wrong_keys_and_broken_handshakes_are_kept_out_and_hold_up_nobody() {
    row_on(&secured(), "wrong keys, broken handshakes", Bounds::default(), async |server| {
        let end = Instant::now() + Duration::from_secs(3);
        let to = server.address;
        let breaking: Vec<_> = (0..4_u64)
            .map(|k| {
                std::thread::spawn(move || {
                    for n in 0.. {
                        if Instant::now() > end {
                            return n;
                        }
                        broken_handshake(to, k + n);
                    }
                    0
                })
            })
            .collect();
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let channel = secrets().endpoint(to).connect().await.unwrap();
            calls.spawn(async move {
                let mut count = 0;
                while Instant::now() < end {
                    wrong_keys(channel.clone(), 12).await;
                    count += 12;
                }
                count
            });
        }
        let refused: usize = calls.join_all().await.into_iter().sum();
        let broken: u64 = breaking.into_iter().map(|thread| thread.join().unwrap()).sum();
        println!("  {refused} calls with wrong keys, {broken} broken handshakes");
        assert!(refused > 20 && broken > 20);
        // Health is asked without a key, and the right one is let in.
        let channel = secrets().endpoint(to).connect().await.unwrap();
        HealthClient::new(channel).check(HealthCheckRequest::default()).await.unwrap();
        server.connect().await.queries().check_collision(cubes_apart()).await.unwrap();
    });
}

/// Of many addresses and connections a tenant has one share: it could take more by calling from
/// everywhere.
#[test]
fn a_noisy_tenant_makes_another_wait_at_most_twice_as_long() {
    let bounds = Bounds { pooled_p99_times: Some(2), ..Bounds::default() };
    row_on(&secured(), "a noisy tenant", bounds, async |server| {
        let mut noisy = Vec::new();
        for last in 20..36 {
            // From many addresses, with the key of one tenant.
            let endpoint = secrets().endpoint(server.address);
            let endpoint = endpoint.local_address(Some([127, 0, 0, last].into()));
            let channel = endpoint.connect().await.unwrap();
            noisy.push(Client::new(channel, secrets().bring(Some([127, 0, 0, 20].into()))));
        }
        register(&noisy[0], "ball", ball(1_290)).await;
        let mut crowd = tokio::task::JoinSet::new();
        for client in noisy.iter().cycle().take(64) {
            let mut queries = client.queries();
            crowd.spawn(async move {
                loop {
                    // It may well be refused.
                    if queries.find_first_contact(turning()).await.is_err() {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                }
            });
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
        crowd.abort_all();
    });
}
