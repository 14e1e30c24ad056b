//! `clearance record`: passes calls on to a server, and records the sessions that they open.

use std::convert::Infallible;
use std::future::Future;
use std::io::Write;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use http::{Request, Response};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::Status;
use tonic::service::Routes;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Server};
use tower::{Service, ServiceExt};

use crate::Error;
use crate::log::{Log, RelayedCall, Speaker};
use crate::show;
use crate::tap::{Tap, tapped};

/// Settings of the recorder.
#[derive(clap::Args, Clone, Debug)]
pub struct RecordOptions {
    /// The server that calls are passed on to.
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:50061")]
    pub to: String,
    /// Where clients call instead.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50063")]
    pub listen: String,
    /// The folder for the recordings; a file for each session.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub out: PathBuf,
    /// Certificates of the authorities that a server at https:// is believed by, in PEM.
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

/// Records until Ctrl-C, and says what was written.
pub fn record(options: &RecordOptions, out: &mut (dyn Write + Send)) -> Result<bool, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(Error::io("threads"))?;
    let stop = async {
        // Where it cannot be waited for, nobody stops it so.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    runtime.block_on(record_until(options, stop, out)).map(|()| true)
}

/// Records until it is told to stop.
pub async fn record_until(
    options: &RecordOptions,
    stop: impl Future<Output = ()>,
    out: &mut (dyn Write + Send),
) -> Result<(), Error> {
    std::fs::create_dir_all(&options.out).map_err(Error::io(options.out.display().to_string()))?;
    let channel = endpoint(options)?.connect_lazy();
    let listener = TcpListener::bind(&options.listen).await;
    let listener = listener.map_err(Error::io(options.listen.clone()))?;
    let address = listener.local_addr().map_err(Error::io(options.listen.clone()))?;
    let said = writeln!(out, "recording what is called at http://{address}, for {}", options.to);
    said.map_err(Error::io("the output"))?;
    let watch = |log, watched| drop(tokio::spawn(show::watch(log, watched)));
    let log = Arc::new(Log::new(options.out.clone(), channel.clone(), watch));
    let forward = Forward { channel, log: log.clone() };
    let routes = Routes::from(Router::new().fallback_service(forward));
    let incoming = TcpListenerStream::new(listener);
    let serving = Server::builder().add_routes(routes).serve_with_incoming(incoming);
    tokio::select! {
        served = serving => {
            let what = options.listen.clone();
            served.map_err(|error| Error::Connection { what, error })?;
        }
        () = stop => {}
    }
    for line in log.end() {
        writeln!(out, "{line}").map_err(Error::io("the output"))?;
    }
    Ok(())
}

fn endpoint(options: &RecordOptions) -> Result<Endpoint, Error> {
    let wrong = |error| Error::Connection { what: options.to.clone(), error };
    let endpoint = Endpoint::from_shared(options.to.clone()).map_err(wrong)?;
    let Some(path) = &options.ca else { return Ok(endpoint) };
    let pem = std::fs::read(path).map_err(Error::io(path.display().to_string()))?;
    let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem));
    endpoint.tls_config(tls).map_err(wrong)
}

/// Passes every call on.
#[derive(Clone)]
struct Forward {
    channel: Channel,
    log: Arc<Log>,
}

impl Forward {
    async fn pass(mut self, request: Request<Body>) -> Response<tonic::body::Body> {
        let call = Arc::new(RelayedCall::new(self.log, request.uri().path(), request.headers()));
        let (mut head, body) = request.into_parts();
        // So that what is answered can be read.
        head.headers.remove("grpc-accept-encoding");
        let request = Request::from_parts(head, tapped(body, call.clone(), Speaker::Client));
        let answered = match self.channel.ready().await {
            Ok(channel) => channel.call(request).await,
            Err(error) => Err(error),
        };
        match answered {
            Ok(response) => {
                response.map(|body| tonic::body::Body::new(Tap::new(body, call, Speaker::Server)))
            }
            Err(error) => Status::unavailable(format!("recorder: {error}")).into_http(),
        }
    }
}

type PassedCall =
    Pin<Box<dyn Future<Output = Result<Response<tonic::body::Body>, Infallible>> + Send>>;

impl Service<Request<Body>> for Forward {
    type Response = Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = PassedCall;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> PassedCall {
        let forward = self.clone();
        Box::pin(async move { Ok(forward.pass(request).await) })
    }
}
