//! A server that sends back what it gets: what the transport alone costs.

use std::convert::Infallible;
use std::future::Future;
use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll};

use prost::bytes::Bytes;
use tonic::body::Body;
use tonic::codegen::http::{self, Response};
use tonic::server::{Grpc, NamedService, StreamingService};
use tonic::{Request, Status, Streaming};
use tower::Service;

use super::talk::Raw;

/// Its one method.
pub(crate) const METHOD: &str = "/bench.Echo/Stream";

#[derive(Clone, Copy, Debug)]
struct Echo;

impl NamedService for Echo {
    const NAME: &'static str = "bench.Echo";
}

impl StreamingService<Bytes> for Echo {
    type Response = Bytes;
    type ResponseStream = Streaming<Bytes>;
    type Future =
        Pin<Box<dyn Future<Output = Result<tonic::Response<Self::ResponseStream>, Status>> + Send>>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        Box::pin(async { Ok(tonic::Response::new(request.into_inner())) })
    }
}

impl Service<http::Request<Body>> for Echo {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async {
            let mut grpc = Grpc::new(Raw).max_decoding_message_size(1 << 30);
            Ok(grpc.streaming(Echo, request).await)
        })
    }
}

/// Serves on a free port, which it prints, until its input ends.
pub(crate) fn serve() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let mut output = std::io::stdout();
        writeln!(output, "{port}").and_then(|()| output.flush()).expect("somebody reads");
        let incoming =
            tonic::transport::server::TcpIncoming::from(listener).with_nodelay(Some(true));
        let server = tonic::transport::Server::builder().add_service(Echo);
        server.serve_with_incoming(incoming).await.expect("it serves");
    });
}
