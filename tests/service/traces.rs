//! Spans of a server, as a collector receives them.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clearance_proto as api;
use clearance_proto::server_service_client::ServerServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use clearance_proto::stream_session_request::Start;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

use crate::server::soon;

/// Keeps the spans that it is sent.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Span>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let resources = request.into_inner().resource_spans.into_iter();
        let scopes = resources.flat_map(|of| of.scope_spans);
        self.0.lock().unwrap().extend(scopes.flat_map(|of| of.spans));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    async fn start() -> (Self, String) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let collector = Self::default();
        let service = TraceServiceServer::new(collector.clone());
        let server = tonic::transport::Server::builder().add_service(service);
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        (collector, address)
    }

    fn named(&self, name: &str) -> Vec<Span> {
        self.0.lock().unwrap().iter().filter(|span| span.name == name).cloned().collect()
    }
}

fn attribute(span: &Span, key: &str) -> Option<String> {
    let row = span.attributes.iter().find(|row| row.key == key)?;
    match row.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        other => Some(format!("{other:?}")),
    }
}

/// A server that sends its spans there, while `asks` calls it; how long its end took.
async fn served(collector: &str, asks: impl AsyncFnOnce(String)) -> Duration {
    let mut server = Command::new(env!("CARGO_BIN_EXE_clearance"))
        .args(["serve", "--listen", "127.0.0.1:0", "--slow-frame-micros", "0"])
        .args(["--otlp-endpoint", collector])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let address = first.split(' ').nth(4).unwrap_or_else(|| panic!("{first}")).to_owned();
    asks(format!("http://{address}")).await;
    let start = Instant::now();
    let kill = Command::new("kill").arg(server.id().to_string()).status().unwrap();
    assert!(kill.success());
    let ended = tokio::task::spawn_blocking(move || server.wait().unwrap()).await.unwrap();
    assert!(ended.success(), "{ended}");
    start.elapsed()
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn traced<T>(message: T, flags: &str) -> Request<T> {
    let mut request = Request::new(message);
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-{flags}");
    request.metadata_mut().insert("traceparent", parent.parse().unwrap());
    request.metadata_mut().insert("x-request-id", "mine".parse().unwrap());
    request
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_slow_frames_reach_a_collector_within_their_traces() {
    let (collector, address) = Collector::start().await;
    served(&address, async |server| {
        let mut infos = ServerServiceClient::connect(server.clone()).await.unwrap();
        let asked = api::GetServerInfoRequest {};
        infos.get_server_info(traced(asked, "01")).await.unwrap();
        infos.get_server_info(traced(asked, "00")).await.unwrap();
        let mut sessions = SessionServiceClient::connect(server).await.unwrap();
        let nobody = api::GetSessionRequest { session_id: "nobody".into(), ..Default::default() };
        sessions.get_session(nobody).await.unwrap_err();
        let open = api::OpenSessionRequest { session_id: "s".into(), ..Default::default() };
        let first = api::StreamSessionRequest {
            start: Some(Start::Open(Box::new(open))),
            ..Default::default()
        };
        let frame = |frame_id| api::StreamSessionRequest {
            frame: Some(Box::new(api::Frame { frame_id, ..Default::default() })),
            ..Default::default()
        };
        let requests = tokio_stream::iter([first, frame(1), frame(2)]);
        let reply = sessions.stream_session(traced(requests, "01")).await.unwrap();
        assert_eq!(soon(reply.into_inner().collect::<Vec<_>>()).await.len(), 3);
    })
    .await;
    let infos = collector.named("clearance.v1.ServerService/GetServerInfo");
    assert_eq!(infos.len(), 1, "one is not sampled");
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(hex(&infos[0].trace_id), TRACE);
    assert_eq!(hex(&infos[0].parent_span_id), "00f067aa0ba902b7");
    assert_eq!(attribute(&infos[0], "rpc.response.status_code").as_deref(), Some("OK"));
    assert_eq!(attribute(&infos[0], "clearance.request_id").as_deref(), Some("mine"));
    let failed = collector.named("clearance.v1.SessionService/GetSession");
    assert_eq!(attribute(&failed[0], "rpc.response.status_code").as_deref(), Some("NOT_FOUND"));
    assert!(failed[0].parent_span_id.is_empty() && hex(&failed[0].trace_id) != TRACE);
    let streams = collector.named("clearance.v1.SessionService/StreamSession");
    let frames = collector.named("frame");
    assert_eq!((streams.len(), frames.len()), (1, 2));
    for frame in &frames {
        assert_eq!(frame.parent_span_id, streams[0].span_id);
        assert_eq!(hex(&frame.trace_id), TRACE);
        assert!(frame.start_time_unix_nano >= streams[0].start_time_unix_nano);
        assert!(frame.end_time_unix_nano <= streams[0].end_time_unix_nano);
    }
    let ids: Vec<_> = frames.iter().map(|frame| attribute(frame, "clearance.frame_id")).collect();
    assert_eq!(ids, [Some("IntValue(1)".to_owned()), Some("IntValue(2)".to_owned())]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_gone_or_silent_does_not_hold_up_the_end() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    for address in [free, silent.local_addr().unwrap()] {
        let took = served(&format!("http://{address}"), async |server| {
            let mut infos = ServerServiceClient::connect(server).await.unwrap();
            for _ in 0..300 {
                infos.get_server_info(api::GetServerInfoRequest {}).await.unwrap();
            }
        })
        .await;
        assert!(took < Duration::from_secs(3), "{took:?}");
    }
}
