//! Spans reach a collector as they were told; one that is gone or stands still costs nothing.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use clearance_otlp::{OtlpSink, QUEUE};
use clearance_runtime::spans::{Attribute, EndedSpan, SpanPlace, SpanSink};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};

/// Keeps what it is sent.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.lock().unwrap().push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

fn span(number: u64) -> EndedSpan {
    EndedSpan {
        place: SpanPlace { trace: 7, span: number },
        parent: Some((3, true)),
        name: "clearance.v1.QueryService/CheckCollision",
        start: SystemTime::UNIX_EPOCH + Duration::from_secs(1),
        elapsed: Duration::from_millis(2),
        attributes: vec![
            ("rpc.response.status_code", Attribute::Name("OK")),
            ("clearance.tenant", Attribute::Text("acme".into())),
            ("n", Attribute::Number(5)),
        ],
        is_fault: false,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn spans_reach_the_collector_as_they_were_told() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let collector = Collector::default();
    let service = TraceServiceServer::new(collector.clone());
    let server = tonic::transport::Server::builder().add_service(service);
    tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    let sink = OtlpSink::start(&format!("http://{address}"), "1.2.3").unwrap();
    (1..=700).for_each(|number| sink.take(span(number)));
    tokio::task::spawn_blocking(move || {
        sink.finish(Duration::from_secs(10));
        assert_eq!((sink.counts().sent, sink.counts().dropped, sink.counts().failed), (700, 0, 0));
    })
    .await
    .unwrap();
    let requests = collector.0.lock().unwrap();
    let resource = requests[0].resource_spans[0].resource.as_ref().unwrap();
    let names: Vec<_> = resource.attributes.iter().map(|row| row.key.as_str()).collect();
    assert!(names.contains(&"service.name") && names.contains(&"service.version"), "{names:?}");
    let mut spans: Vec<_> = requests
        .iter()
        .flat_map(|request| &request.resource_spans)
        .flat_map(|of| &of.scope_spans)
        .flat_map(|of| &of.spans)
        .collect();
    // What is answered late is sent again.
    let mut seen = std::collections::BTreeSet::new();
    spans.retain(|span| seen.insert(span.span_id.clone()));
    assert_eq!(spans.len(), 700);
    let first = spans[0];
    assert_eq!(first.trace_id, 7_u128.to_be_bytes());
    assert_eq!(
        (&first.span_id[..], &first.parent_span_id[..]),
        (&1_u64.to_be_bytes()[..], &3_u64.to_be_bytes()[..])
    );
    assert_eq!(first.name, "clearance.v1.QueryService/CheckCollision");
    assert_eq!(
        (first.start_time_unix_nano, first.end_time_unix_nano),
        (1_000_000_000, 1_002_000_000)
    );
    assert_eq!(first.attributes.len(), 3);
}

#[test]
fn a_collector_that_is_gone_costs_nothing_and_holds_nothing_up() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    // The second one accepts, and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    for address in [free, silent.local_addr().unwrap()] {
        let sink = OtlpSink::start(&format!("http://{address}"), "1.2.3").unwrap();
        let start = Instant::now();
        (0..50_000).for_each(|number| sink.take(span(number + 1)));
        let took = start.elapsed();
        assert!(took < Duration::from_secs(2), "{took:?} for 50,000 spans");
        let counts = sink.counts();
        assert!(counts.dropped >= 50_000 - 4 * QUEUE as u64, "{counts:?}");
        let start = Instant::now();
        sink.finish(Duration::from_millis(300));
        let took = start.elapsed();
        assert!(took < Duration::from_millis(900), "the end waited for {took:?}");
        assert_eq!(sink.counts().sent, 0);
        // Nobody takes them now.
        sink.take(span(1));
    }
}

#[test]
fn what_is_no_address_is_refused() {
    for wrong in ["", "127.0.0.1:4317", "https://127.0.0.1:4317", "http://", "http://a b"] {
        let error = OtlpSink::start(wrong, "1").unwrap_err().to_string();
        assert!(error.starts_with("otlp_endpoint: "), "{error}");
    }
}
