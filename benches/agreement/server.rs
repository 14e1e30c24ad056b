//! A server behind a socket, with as many compute threads as are asked for.

use std::net::SocketAddr;

use clearance::rpc::serve::ServeError;
use clearance_proto as api;
use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use clearance_runtime::settings::{Limits, Settings};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tonic::transport::{Channel, Endpoint};

use super::script::Script;

/// A running server, and a connection to it.
pub(crate) struct Server {
    pub(crate) threads: usize,
    channel: Channel,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), ServeError>>,
}

impl Server {
    pub(crate) async fn start(threads: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address: SocketAddr = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            // Dropping the sender stops the server too.
            let _ = stopped.await;
        };
        let settings =
            Settings { compute_threads: threads, limits: limits(), ..Settings::default() };
        let serving = tokio::spawn(clearance::rpc::serve(listener, shutdown, settings));
        let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
        let channel = endpoint.tcp_nodelay(true).connect().await.expect("it listens");
        Self { threads, channel, stop, serving }
    }

    /// Ends it.
    pub(crate) async fn stop(self) {
        drop((self.stop, self.channel));
        self.serving.await.expect("it ends").expect("it served");
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<Channel> {
        SessionServiceClient::new(self.channel.clone())
            .max_encoding_message_size(BYTES_MAX)
            .max_decoding_message_size(BYTES_MAX)
    }

    /// Registers the shapes of a scene; their ids.
    pub(crate) async fn register(&self, script: &Script) -> Vec<String> {
        let mut client = PolytopeServiceClient::new(self.channel.clone());
        let spec = |shape: &std::sync::Arc<clearance_geometry::polytope::Polytope>| {
            let xyz = shape.vertices().iter().flat_map(|v| [v.x, v.y, v.z]).collect();
            let source = api::polytope_spec::Source::Vertices(api::Points { xyz });
            api::PolytopeSpec { source: Some(source), ..Default::default() }
        };
        let polytopes = script.shapes.iter().map(spec).collect();
        let request = api::RegisterPolytopesRequest { polytopes, ..Default::default() };
        let reply = client.register_polytopes(request).await.expect("registered").into_inner();
        let id = |report: api::RegistrationReport| report.polytope.expect("a hull").id;
        reply.reports.into_iter().map(id).collect()
    }
}

/// The longest message that is sent or received.
const BYTES_MAX: usize = 1 << 30;

/// Room for the largest scenes and for reports of all their contacts.
fn limits() -> Limits {
    Limits {
        bodies_per_session_max: 200_000,
        bodies_per_message_max: 200_000,
        parts_per_session_max: 400_000,
        pairs_per_frame_max: 4_000_000,
        pairs_per_report_max: 4_000_000,
        message_bytes_max: 64 << 20,
        decoded_bytes_max: 2 << 30,
        session_bytes_max: 8 << 30,
        ..Limits::default()
    }
}
