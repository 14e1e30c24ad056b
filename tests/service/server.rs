//! A server on a free port of the loopback interface, and its clients.

use std::time::Duration;

use clearance::rpc::serve::ServeError;
use clearance_proto as api;
use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::query_service_client::QueryServiceClient;
use clearance_proto::server_service_client::ServerServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use clearance_proto::verify_certificate_request::Claim;
use clearance_runtime::settings::{Limits, Settings};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tonic_types::StatusExt;

/// A running server.
pub(crate) struct Server {
    pub(crate) address: std::net::SocketAddr,
    pub(crate) channel: Channel,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), ServeError>>,
}

impl Server {
    /// With the default limits.
    pub(crate) async fn start() -> Self {
        Self::with_limits(Limits::default()).await
    }

    pub(crate) async fn with_limits(limits: Limits) -> Self {
        Self::with_settings(Settings { limits, ..Settings::default() }).await
    }

    pub(crate) async fn with_settings(settings: Settings) -> Self {
        Self::listening("127.0.0.1:0", settings).await
    }

    /// On every interface, so that strangers may call.
    pub(crate) async fn in_public(settings: Settings) -> Self {
        Self::listening("0.0.0.0:0", Settings { insecure: true, ..settings }).await
    }

    /// One that speaks TLS, for as long as the test runs.
    pub(crate) async fn secured(settings: Settings) -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(clearance::rpc::serve(listener, std::future::pending(), settings));
        address
    }

    async fn listening(address: &str, settings: Settings) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let mut address = listener.local_addr().unwrap();
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            // Dropping the sender stops the server too.
            let _ = stopped.await;
        };
        let serving = tokio::spawn(clearance::rpc::serve(listener, shutdown, settings));
        let channel =
            Channel::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap();
        Self { address, channel, stop, serving }
    }

    pub(crate) fn polytopes(&self) -> PolytopeServiceClient<Channel> {
        PolytopeServiceClient::new(self.channel.clone())
            .max_encoding_message_size(64 << 20)
            .max_decoding_message_size(64 << 20)
    }

    pub(crate) fn queries(&self) -> QueryServiceClient<Channel> {
        QueryServiceClient::new(self.channel.clone()).max_encoding_message_size(64 << 20)
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<Channel> {
        SessionServiceClient::new(self.channel.clone())
            .max_encoding_message_size(64 << 20)
            .max_decoding_message_size(64 << 20)
    }

    pub(crate) fn info(&self) -> ServerServiceClient<Channel> {
        ServerServiceClient::new(self.channel.clone())
    }

    /// What it holds now.
    pub(crate) async fn usage(&self) -> api::Usage {
        let info = self.info().get_server_info(api::GetServerInfoRequest {}).await.unwrap();
        info.into_inner().usage.unwrap()
    }

    /// Registers points under an alias and returns the id.
    pub(crate) async fn register(&self, alias: &str, xyz: &[f64]) -> String {
        let request = api::RegisterPolytopesRequest {
            polytopes: vec![spec(alias, xyz)],
            validate_only: false,
        };
        let reply = self.polytopes().register_polytopes(request).await.unwrap().into_inner();
        reply.reports[0].polytope.as_ref().unwrap().id.clone()
    }

    /// Tells the server to stop; `ended` waits for it.
    pub(crate) fn stop(self) -> (Channel, JoinHandle<Result<(), ServeError>>) {
        self.stop.send(()).unwrap();
        (self.channel, self.serving)
    }
}

/// A server that has the unit cube.
pub(crate) async fn with_cube() -> Server {
    let server = Server::start().await;
    server.register("cube", &cube()).await;
    server
}

/// What VerifyCertificate says of a claim: nothing, or why it refuses it.
pub(crate) async fn verify(server: &Server, claim: Claim) -> Result<(), String> {
    let request = api::VerifyCertificateRequest { claim: Some(claim) };
    let reply = server.queries().verify_certificate(request).await.unwrap().into_inner();
    assert_eq!(reply.valid, reply.refusal.is_empty());
    if reply.valid { Ok(()) } else { Err(reply.refusal) }
}

/// A specification by points.
pub(crate) fn spec(alias: &str, xyz: &[f64]) -> api::PolytopeSpec {
    let points = api::Points { xyz: xyz.to_vec() };
    api::PolytopeSpec {
        source: Some(api::polytope_spec::Source::Vertices(points)),
        alias: alias.to_owned(),
        ..Default::default()
    }
}

/// The corners of the unit cube.
pub(crate) fn cube() -> Vec<f64> {
    (0..8).flat_map(|k| [k & 1, k >> 1 & 1, k >> 2].map(f64::from)).collect()
}

/// Bytes as text in base 64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
        let word = word << (8 * (3 - three.len()));
        for k in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * k) & 63) as usize];
            text.push(if k <= three.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

/// A corner of that, which is no box: what touches it is told by the exact stage.
pub(crate) fn wedge() -> Vec<f64> {
    vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
}

/// A body by alias, moved along x.
pub(crate) fn body(alias: &str, x: f64) -> api::PlacedBody {
    api::PlacedBody {
        source: Some(api::placed_body::Source::Alias(alias.to_owned())),
        pose: Some(api::Pose { translation: vector(x, 0.0, 0.0), orientation: None }),
    }
}

/// A vector.
pub(crate) fn vector(x: f64, y: f64, z: f64) -> Option<api::Vector3> {
    Some(api::Vector3 { x, y, z })
}

/// Checks code, reason and field of a refusal.
#[track_caller]
pub(crate) fn check(status: &Status, code: Code, reason: &str, field: &str) {
    assert_eq!(status.code(), code, "{status:?}");
    let details = status.get_error_details();
    let info = details.error_info().unwrap_or_else(|| panic!("no ErrorInfo: {status:?}"));
    assert_eq!((info.reason.as_str(), info.domain.as_str()), (reason, "clearance.v1"));
    let violations = details.bad_request().map(|bad| bad.field_violations.clone());
    let found = violations.and_then(|list| list.into_iter().next());
    assert_eq!(found.map(|violation| violation.field).unwrap_or_default(), field, "{status:?}");
}

/// Fails a test that would hang.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), what).await.expect("within a minute")
}
