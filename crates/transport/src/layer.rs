//! What surrounds every call: a time limit, a net under panics, statuses in the words of our table,
//! counters, and a line in the log.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};

use super::caller::Caller;
use super::intake::{Arriving, Intake};
use super::timing::call_time;
use super::unsent::Unsent;
use clearance_runtime::access::{Access, Grant, Role, needed_role};
use clearance_runtime::clock::Clock;
use clearance_runtime::deadline::around_call;
use clearance_runtime::metrics::Metrics;
use clearance_runtime::settings::{Limits, Settings};
use clearance_wire::path::{Path, WithinLimit};
use clearance_wire::status::{Failure, of_transport};

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
        let Surround { settings, clock, metrics, unsent, access } = self.surround.clone();
        let start = clock.now();
        let method = request.uri().path().to_owned();
        let caller = match admitted(&request, &settings, &access) {
            Ok(caller) => caller,
            Err(refused) => {
                let code = code_name(code(refused.headers()));
                let elapsed = clock.now().duration_since(start);
                metrics.by_call.count(&method, code, elapsed);
                return Box::pin(async { Ok(*refused) });
            }
        };
        let (client, grant) = (caller.client, caller.grant.clone());
        let intake = match Intake::new(settings.clone(), caller) {
            Ok(intake) => intake,
            Err(full) => return Box::pin(async move { Ok(refusal(full)) }),
        };
        request.extensions_mut().insert(intake.clone());
        let arriving = intake.clone();
        let request = request.map(|body| Body::new(Arriving::new(body, arriving)));
        // The transport keeps the caller's deadline too, and would say CANCELLED.
        let time_limit = call_time(&settings.limits, request.headers()).unwrap_or_default();
        let handler = client.around(intake.clone().around(self.inner.call(request)));
        let handler = around_call(time_limit, handler);
        let handler = Caught(Box::pin(async move {
            let response = handler.await?;
            // A stream has begun only, and keeps its messages itself.
            intake.settle();
            Ok(unsent.count(response, intake).await)
        }));
        let limited = tokio::time::timeout(time_limit, handler);
        Box::pin(async move {
            let response = match limited.await {
                Ok(Ok(result)) => mended(result?, &settings.limits, &method),
                Ok(Err(panic)) => {
                    tracing::error!(method, panic = panic_message(&*panic), "a handler panicked");
                    Status::from(Failure::Bug("the handler panicked".to_owned())).into_http()
                }
                Err(_) => Status::from(Failure::Deadline).into_http(),
            };
            let code = code(response.headers());
            metrics.calls.fetch_add(1, Ordering::Relaxed);
            if code != Code::Ok {
                metrics.failures.fetch_add(1, Ordering::Relaxed);
            }
            let elapsed = clock.now().duration_since(start);
            metrics.by_call.count(&method, code_name(code), elapsed);
            let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
            if code == Code::Internal {
                tracing::error!(method, ?code, micros, "call");
            } else {
                tracing::debug!(method, ?code, micros, "call");
            }
            Ok(match grant {
                Some(grant) => under(grant, response, &method, code),
                None => response,
            })
        })
    }
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
    Caller::of(request, access).map_err(|failure| {
        tracing::debug!(method = request.uri().path(), %failure, "a call was refused");
        Box::new(refusal(failure))
    })
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

/// A response to whoever was granted the call: who did it is written down where it changes
/// something, and what is streamed ends when the key is good no more.
fn under(grant: Grant, mut response: Response<Body>, method: &str, code: Code) -> Response<Body> {
    if needed_role(method) > Some(Role::Query) {
        let (key, tenant) = (&*grant.name, &*grant.tenant);
        tracing::info!(target: "clearance::audit", method, key, tenant, ?code, "called");
    }
    response.extensions_mut().insert(grant);
    response
}

fn refusal(failure: impl Into<Failure>) -> Response<Body> {
    Status::from(failure.into()).into_http()
}

/// The size of a list of headers as HTTP/2 counts it (RFC 9113, section 6.5.2).
fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}

/// The code of a reply without a body; with one, it is not known yet and taken for OK.
fn code(headers: &HeaderMap) -> Code {
    headers.get(Status::GRPC_STATUS).map_or(Code::Ok, |value| Code::from_bytes(value.as_bytes()))
}

/// The name of a code in gRPC.
fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// Statuses that the transport made, in the words of our table.
fn mended(response: Response<Body>, limits: &Limits, method: &str) -> Response<Body> {
    if !matches!(code(response.headers()), Code::OutOfRange | Code::Internal) {
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

    fn surround(limits: Limits) -> Surround {
        let unsent = Unsent::new(limits.unsent_bytes_max());
        let settings = Arc::new(Settings { limits, ..Settings::default() });
        let (clock, metrics, access) = (Arc::new(SystemClock), Arc::default(), Access::open());
        Surround { settings, clock, metrics, unsent, access }
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
        assert_eq!(code(response.headers()), Code::DeadlineExceeded);
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
