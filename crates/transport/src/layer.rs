//! What surrounds every call: a time limit, a net under panics, statuses in the words of our table,
//! counters, an id, and a line in the log.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Instant;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};

use super::call_log::{CallLine, CallLog, Called, code_name, micros};
use super::caller::Caller;
use super::connection::Peer;
use super::intake::{Arriving, Intake};
use super::tail::Tail;
use super::timing::call_time;
use super::unsent::Unsent;
use clearance_runtime::access::{Access, row_of};
use clearance_runtime::behalf::{Behalf, KnownCall};
use clearance_runtime::clock::Clock;
use clearance_runtime::deadline::around_call;
use clearance_runtime::metrics::Metrics;
use clearance_runtime::request::{REQUEST_ID, RequestId};
use clearance_runtime::settings::{Limits, Settings};
use clearance_runtime::spans::{OpenSpan, Spans, TRACEPARENT};
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::{Failure, of_transport, with_request_id};

/// The surroundings of every call, as a layer around the services.
#[derive(Clone, Debug)]
pub struct Surround {
    /// The limits of calls and messages.
    pub settings: Arc<Settings>,
    /// Measures how long calls take.
    pub clock: Arc<dyn Clock>,
    /// Counts calls.
    pub metrics: Arc<Metrics>,
    /// Room for replies.
    pub unsent: Unsent,
    /// Who may call.
    pub access: Access,
    /// What the log says of calls.
    pub log: Arc<CallLog>,
    /// Who collects spans, if somebody does.
    pub spans: Option<Spans>,
}

/// A service with its surroundings.
#[derive(Clone, Debug)]
pub struct Surrounded<S> {
    inner: S,
    surround: Surround,
}

impl<S> Surrounded<S> {
    /// The counters that calls and connections are counted by.
    pub(super) fn metrics(&self) -> &Metrics {
        &self.surround.metrics
    }
}

impl<S> Layer<S> for Surround {
    type Service = Surrounded<S>;

    fn layer(&self, inner: S) -> Surrounded<S> {
        Surrounded { inner, surround: self.clone() }
    }
}

impl<S> Service<Request<Body>> for Surrounded<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let surround = self.surround.clone();
        let start = surround.clock.now();
        let path: Box<str> = request.uri().path().into();
        let known = KnownCall { id: id_of(&request), span: surround.begin_span(&request) };
        let mut call = Called::new(known.clone(), &path, row_of(&path));
        call.who.address = request.extensions().get::<Peer>().map(|peer| peer.address);
        let caller = match admitted(&request, &surround.settings, &surround.access) {
            Ok(caller) => caller,
            Err(refused) => {
                let refused = surround.answered(*refused, call, &path, start);
                return Box::pin(async { Ok(refused) });
            }
        };
        let (client, grant) = (caller.client, caller.grant.clone());
        call.who.grant = grant.as_ref().map(|it| (it.name.clone(), it.tenant.clone()));
        let intake = match Intake::new(surround.settings.clone(), caller) {
            Ok(intake) => intake,
            Err(full) => {
                let refused = surround.answered(refusal(full), call, &path, start);
                return Box::pin(async { Ok(refused) });
            }
        };
        request.extensions_mut().insert(intake.clone());
        let arriving = intake.clone();
        let request = request.map(|body| Body::new(Arriving::new(body, arriving)));
        // The transport keeps the caller's deadline too, and would say CANCELLED.
        let time_limit =
            call_time(&surround.settings.limits, request.headers()).unwrap_or_default();
        let handler = intake.clone().around(self.inner.call(request));
        let handler = around_call(time_limit, handler);
        let unsent = surround.unsent.clone();
        let handler = Caught(Box::pin(async move {
            let response = handler.await?;
            // A stream has begun only, and keeps its messages itself.
            intake.settle();
            Ok(unsent.count(response, intake).await)
        }));
        let limited = tokio::time::timeout(time_limit, handler);
        let behalf = Behalf { client, call: Some(known) };
        Box::pin(behalf.around(async move {
            let response = match limited.await {
                Ok(Ok(result)) => mended(result?, &surround.settings.limits, &path),
                Ok(Err(panic)) => {
                    let (request_id, panic) = (call.known.id.as_str(), panic_message(&*panic));
                    tracing::error!(request_id, method = &*path, panic, "a handler panicked");
                    Status::from(Failure::Bug("the handler panicked".to_owned())).into_http()
                }
                Err(_) => Status::from(Failure::Deadline).into_http(),
            };
            let mut response = surround.answered(response, call, &path, start);
            // What is streamed ends when the key is good no more.
            if let Some(grant) = grant {
                response.extensions_mut().insert(grant);
            }
            Ok(response)
        }))
    }
}

impl Surround {
    /// The span of a call that begins now, if it is collected.
    fn begin_span(&self, request: &Request<Body>) -> Option<OpenSpan> {
        let spans = self.spans.as_ref()?;
        let parent = request.headers().get(TRACEPARENT).and_then(|value| value.to_str().ok());
        spans.begin(parent, self.clock.wall())
    }

    /// The reply to a call as it is sent, which says which request it answers; counted, and told to
    /// the log.
    fn answered(
        &self,
        response: Response<Body>,
        call: Called,
        path: &str,
        start: Instant,
    ) -> Response<Body> {
        let (now, code) = (self.clock.now(), code(&response));
        let elapsed = now.duration_since(start);
        self.metrics.calls.fetch_add(1, Ordering::Relaxed);
        if code != Code::Ok {
            self.metrics.failures.fetch_add(1, Ordering::Relaxed);
        }
        self.metrics.by_call.count(path, code_name(code), elapsed);
        let begins = code == Code::Ok && call.streams();
        let event = if begins { "stream began" } else { "call" };
        self.log.say(CallLine { event, call: &call, code, micros: micros(elapsed) }, now);
        let response = named(response, &call.known.id);
        if !begins {
            call.end_span(code, elapsed);
            return response;
        }
        let (log, clock) = (self.log.clone(), self.clock.clone());
        // Whoever lets it go before its status has come has gone.
        let code = Code::Cancelled;
        response.map(|body| Body::new(Tail { body, call, log, clock, start, code }))
    }
}

/// The id of a request: the one that the transport has given it, or that its client has.
fn id_of<B>(request: &Request<B>) -> RequestId {
    let known = request.extensions().get::<RequestId>().cloned();
    known.unwrap_or_else(|| id_from(request.headers()))
}

/// The id that the headers of a request bring, or else a new one.
pub(super) fn id_from(headers: &HeaderMap) -> RequestId {
    RequestId::brought_or_new(headers.get(REQUEST_ID).map(HeaderValue::as_bytes))
}

/// A reply that says which request it answers: in its headers, and in the details of its status.
pub(super) fn named(response: Response<Body>, id: &RequestId) -> Response<Body> {
    let failed = Some(code(&response)).filter(|code| *code != Code::Ok);
    let status = failed.and_then(|_| Status::from_header_map(response.headers()));
    let mut response = match status {
        Some(status) => with_request_id(&status, id.as_str()).into_http(),
        None => response,
    };
    // It is of characters that headers may have.
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// Who makes a call, if it is one of gRPC with few enough headers, and the caller may make it.
fn admitted(
    request: &Request<Body>,
    settings: &Settings,
    access: &Access,
) -> Result<Caller, Box<Response<Body>>> {
    if !is_grpc(request.headers()) {
        return Err(Box::new(unsupported()));
    }
    let most = settings.limits.header_bytes_max();
    let headers = Path::ROOT.field("headers").within(most, header_bytes(request.headers()));
    headers.map_err(|failure| Box::new(refusal(failure)))?;
    Caller::of(request, access).map_err(|failure| Box::new(refusal(failure)))
}

/// Whether a request is one of gRPC, with messages as protocol buffers.
fn is_grpc(headers: &HeaderMap) -> bool {
    let Some(Ok(kind)) = headers.get(CONTENT_TYPE).map(HeaderValue::to_str) else { return false };
    let kind = kind.split(';').next().unwrap_or_default().trim();
    ["application/grpc", "application/grpc+proto"].iter().any(|own| own.eq_ignore_ascii_case(kind))
}

/// What a client of anything else is told, in HTTP's words: it would not see a status of gRPC.
fn unsupported() -> Response<Body> {
    let mut response = Response::new(Body::new(UNSUPPORTED.to_owned()));
    *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
    let text = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, text);
    response
}

const UNSUPPORTED: &str =
    "This is a gRPC service: requests have the content type application/grpc, and no other.\n";

fn refusal(failure: impl Into<Failure>) -> Response<Body> {
    Status::from(failure.into()).into_http()
}

/// The size of a list of headers as HTTP/2 counts it (RFC 9113, section 6.5.2).
fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}

/// The code of a reply without a body; with one, it is not known yet and taken for OK. What was
/// told in HTTP's words alone is UNKNOWN.
fn code(response: &Response<Body>) -> Code {
    if response.status() != StatusCode::OK {
        return Code::Unknown;
    }
    let status = response.headers().get(Status::GRPC_STATUS);
    status.map_or(Code::Ok, |value| Code::from_bytes(value.as_bytes()))
}

/// Statuses that the transport made, in the words of our table.
fn mended(response: Response<Body>, limits: &Limits, method: &str) -> Response<Body> {
    if !matches!(code(&response), Code::OutOfRange | Code::Internal) {
        return response;
    }
    match Status::from_header_map(response.headers()) {
        Some(status) => of_transport(status, limits, method).into_http(),
        None => response,
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

/// A future whose panic is a value.
struct Caught<F>(Pin<Box<F>>);

impl<F: Future> Future for Caught<F> {
    type Output = Result<F::Output, Box<dyn Any + Send>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_runtime::clock::SystemClock;
    use clearance_runtime::spans::{Attribute, EndedSpan, SpanCounts, SpanSink};
    use std::time::Duration;

    fn surround(limits: Limits) -> Surround {
        let unsent = Unsent::new(limits.unsent_bytes_max());
        let settings = Arc::new(Settings { limits, ..Settings::default() });
        let (clock, metrics, access) = (Arc::new(SystemClock), Arc::default(), Access::open());
        let log = Arc::new(CallLog::new(&settings.limits, Instant::now()));
        Surround { settings, clock, metrics, unsent, access, log, spans: None }
    }

    fn request(timeout: &str) -> Request<Body> {
        let request = Request::builder().header(CONTENT_TYPE, "application/grpc");
        request.header("grpc-timeout", timeout).body(Body::empty()).unwrap()
    }

    fn surrounded<F>(handler: fn() -> F, limits: Limits) -> impl Future<Output = Status>
    where
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let inner = tower::service_fn(move |_request| async move {
            Ok::<_, std::convert::Infallible>(handler().await)
        });
        let call = surround(limits).layer(inner).call(request("20S"));
        async { Status::from_header_map(call.await.unwrap().headers()).unwrap() }
    }

    #[test]
    fn content_types_of_others_are_told_apart() {
        let check = |kind: &[u8], expected: bool| {
            let value = HeaderValue::from_bytes(kind).unwrap();
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, value)]);
            assert_eq!(is_grpc(&headers), expected, "{}", kind.escape_ascii());
        };
        for own in ["application/grpc", "Application/gRPC+proto", "application/grpc; charset=utf-8"]
        {
            check(own.as_bytes(), true);
        }
        for other in [
            "application/grpc-web",
            "application/grpc+json",
            "application/grpcx",
            "application/json",
            "text/html",
            "",
        ] {
            check(other.as_bytes(), false);
        }
        check(b"application/grpc\xff", false);
        assert!(!is_grpc(&HeaderMap::new()));
    }

    #[derive(Debug, Default)]
    struct Kept(std::sync::Mutex<Vec<EndedSpan>>);

    impl SpanSink for Kept {
        fn take(&self, span: EndedSpan) {
            self.0.lock().unwrap().push(span);
        }
        fn counts(&self) -> SpanCounts {
            SpanCounts::default()
        }
        fn finish(&self, _: Duration) {}
    }

    #[tokio::test]
    async fn a_call_is_told_once_as_part_of_its_callers_trace() {
        let kept = Arc::new(Kept::default());
        let spans = Some(Spans::new(kept.clone(), Duration::ZERO));
        let inner = tower::service_fn(|_request| async {
            let response = Status::from(Failure::Busy).into_http::<Body>();
            Ok::<_, std::convert::Infallible>(response)
        });
        let mut service = Surround { spans, ..surround(Limits::default()) }.layer(inner);
        for flags in ["01", "00"] {
            let mut request = request("20S");
            *request.uri_mut() = "/clearance.v1.QueryService/CheckCollision".parse().unwrap();
            let parent = format!("00-{}7-{}3-{flags}", "0".repeat(31), "0".repeat(15));
            request.headers_mut().insert(TRACEPARENT, parent.parse().unwrap());
            request.headers_mut().insert(REQUEST_ID, "mine".parse().unwrap());
            let response = service.call(request).await.unwrap();
            assert_eq!(response.headers()[REQUEST_ID], "mine");
        }
        let told = kept.0.lock().unwrap();
        assert_eq!(told.len(), 1, "one is not sampled: {told:?}");
        assert_eq!((told[0].place.trace, told[0].parent), (7, Some((3, true))));
        assert_eq!(told[0].name, "clearance.v1.QueryService/CheckCollision");
        let of = |key| told[0].attributes.iter().find(|row| row.0 == key).map(|row| &row.1);
        assert_eq!(of("rpc.response.status_code"), Some(&Attribute::Name("RESOURCE_EXHAUSTED")));
        assert_eq!(of("clearance.request_id"), Some(&Attribute::Text("mine".into())));
    }

    #[tokio::test]
    async fn a_panicking_handler_answers_internal() {
        async fn handler() -> Response<Body> {
            panic!("a bug, for the test")
        }
        assert_eq!(surrounded(handler, Limits::default()).await.code(), Code::Internal);
    }

    #[tokio::test]
    async fn a_call_that_takes_too_long_is_ended() {
        let limits = Limits { call_seconds_max: 0, ..Limits::default() };
        let status = surrounded(std::future::pending, limits).await;
        assert_eq!(status.code(), Code::DeadlineExceeded);
    }

    #[tokio::test]
    async fn the_callers_deadline_is_kept_and_called_by_its_name() {
        let inner = tower::service_fn(|_request| {
            std::future::pending::<Result<Response<Body>, std::convert::Infallible>>()
        });
        let call = surround(Limits::default()).layer(inner).call(request("2m"));
        let response = call.await.unwrap();
        assert_eq!(code(&response), Code::DeadlineExceeded);
    }

    #[tokio::test]
    async fn a_message_that_is_too_long_is_refused_with_the_limit() {
        async fn handler() -> Response<Body> {
            Status::out_of_range("Error, decoded message length too large: found 5").into_http()
        }
        let status = surrounded(handler, Limits::default()).await;
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert!(status.message().contains("message_bytes_max = 4194304"), "{}", status.message());
    }
}
