//! The browser's door: calls over HTTP/1.1 in the words of gRPC-Web and of Connect
//! (<https://connectrpc.com/docs/protocol>), which become calls of gRPC and go through the same
//! surroundings and services as those of the gRPC port.
//!
//! Calls run where all others run, and not on the thread of the side port, which is there to say
//! at any time whether the server lives. A request and its reply go through this in pieces; a
//! client that hangs up ends its call.

mod asked;
mod connect_error;
mod interface;
mod json;
mod origin;
mod protocol;
mod reply_body;
mod told;

use std::sync::Arc;

use http::header::{ALLOW, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, TE};
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode, Version};
use http_body::Body as HttpBody;
use prost::bytes::Bytes;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use tonic::Status;
use tonic::body::Body;
use tower::ServiceExt;

use self::asked::{AskedForm, AskedRules, WebRequestBody};
pub use self::interface::Interface;
use self::interface::MethodForm;
pub use self::origin::{NoOrigin, Origins};
use self::origin::{OriginStanding, allow, preflight};
use self::protocol::{Format, Protocol, SPOKEN};
pub(crate) use self::reply_body::{ReplyBody, content};
use self::told::Telling;
use super::connection::Peer;
use super::http2::AllServices;
use super::layer::id_from;
use clearance_runtime::latch::Latch;
use clearance_runtime::request::{REQUEST_ID, RequestId};
use clearance_runtime::settings::Limits;

/// What this speaks of plain words in.
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// A client says with this which version of Connect it speaks.
const CONNECT_VERSION: &str = "connect-protocol-version";

/// A client says with this how long it waits, in milliseconds of at most ten digits.
const CONNECT_TIMEOUT: &str = "connect-timeout-ms";
const TIMEOUT_DIGITS_MAX: usize = 10;

/// The same in gRPC.
const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// How the messages of a stream of Connect are compressed.
const CONNECT_ENCODING: &str = "connect-content-encoding";

/// Headers of a request that a call has, too.
const PASSED_ON: [HeaderName; 6] = [
    http::header::AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("clearance-session-key"),
    HeaderName::from_static("grpc-encoding"),
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
];

/// The door of one server; cheap to clone.
#[derive(Clone, Debug)]
pub struct Web(Arc<WebState>);

/// What a door is made of.
#[derive(Debug)]
pub struct WebParts {
    /// The services that answer the calls, as they answer those of gRPC.
    pub services: AllServices,
    /// Which methods and messages there are.
    pub interface: Arc<Interface>,
    /// Whose pages may call.
    pub origins: Origins,
    /// How long and how large messages may be.
    pub limits: Limits,
    /// Set when no new calls are taken.
    pub draining: Latch,
    /// The runtime on which calls run.
    pub runtime: Handle,
}

#[derive(Debug)]
struct WebState {
    parts: WebParts,
    /// A place for each call; as many as there can be connections, each of which has one call.
    places: Arc<Semaphore>,
}

/// What a request asks for.
struct WebCall {
    protocol: Protocol,
    method: MethodForm,
}

impl Web {
    /// A door to these services.
    pub fn new(parts: WebParts) -> Self {
        let places = Arc::new(Semaphore::new(places(&parts.limits) as usize));
        Self(Arc::new(WebState { parts, places }))
    }

    /// Waits until no call is under way.
    pub async fn until_idle(&self) {
        // It is never closed.
        let _ = self.0.places.acquire_many(places(&self.0.parts.limits)).await;
    }

    /// Whether a path is one of a method: of two parts, of which the first is a service in its
    /// package.
    pub(super) fn is_method(path: &str) -> bool {
        let mut parts = path.trim_start_matches('/').split('/');
        let names = (parts.next(), parts.next(), parts.next());
        matches!(names, (Some(service), Some(_), None) if service.contains('.'))
    }

    /// Answers a request that is for a method.
    pub(super) async fn answer<B>(&self, mut request: Request<B>, peer: Peer) -> Response<ReplyBody>
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let standing = self.0.parts.origins.standing(request.headers());
        let id = id_from(request.headers());
        request.extensions_mut().insert(id.clone());
        let mut response = match &standing {
            OriginStanding::Stranger(origin) => stranger(origin),
            OriginStanding::Own | OriginStanding::Listed(_)
                if request.method() == Method::OPTIONS =>
            {
                let mut told = plain(StatusCode::NO_CONTENT, String::new());
                preflight(request.headers(), told.headers_mut(), &standing);
                told
            }
            OriginStanding::Own | OriginStanding::Listed(_) => {
                self.called(request, &id, peer).await
            }
        };
        allow(response.headers_mut(), &standing);
        // It is of characters that headers may have.
        if let Ok(id) = HeaderValue::from_str(id.as_str()) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        if self.0.parts.draining.is_set() {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    async fn called<B>(
        &self,
        request: Request<B>,
        id: &RequestId,
        peer: Peer,
    ) -> Response<ReplyBody>
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let asking = match self.asking(&request, id) {
            Ok(asking) => asking,
            Err(response) => return *response,
        };
        let WebParts { services, interface, limits, runtime, .. } = &self.0.parts;
        let telling = Telling {
            protocol: asking.protocol,
            message: asking.method.told,
            interface: interface.clone(),
            quota: peer.quota.clone(),
            id: id.clone(),
        };
        let headers = match call_headers(request.headers(), asking.protocol) {
            Ok(headers) => headers,
            Err(status) => return telling.refusal(&status),
        };
        let rules = AskedRules {
            interface: interface.clone(),
            limits: limits.clone(),
            quota: peer.quota.clone(),
        };
        let form = asked_form(&asking);
        let request = call(request, headers, |body| WebRequestBody::new(body, form, rules), peer);
        let (services, places) = (services.clone(), self.0.places.clone());
        let (mut head, told) = oneshot::channel();
        runtime.spawn(async move {
            let Ok(_place) = places.acquire_owned().await else { return };
            let response = tokio::select! {
                response = services.oneshot(request) => match response {
                    Ok(response) => response,
                    Err(never) => match never {},
                },
                // The client has gone: the call is dropped, and with it whatever runs for it.
                () = head.closed() => return,
            };
            telling.tell(response, head).await;
        });
        told.await.unwrap_or_else(|_| {
            plain(StatusCode::INTERNAL_SERVER_ERROR, "The call has no answer.\n".to_owned())
        })
    }

    /// What a request asks for, or what it is told in place of an answer.
    fn asking<B>(
        &self,
        request: &Request<B>,
        id: &RequestId,
    ) -> Result<WebCall, Box<Response<ReplyBody>>> {
        if request.method() != Method::POST {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, POSTS.to_owned());
            let methods = HeaderValue::from_static(origin::METHODS);
            response.headers_mut().insert(ALLOW, methods);
            return Err(Box::new(response));
        }
        let Some(protocol) = Protocol::of(request.headers()) else {
            return Err(Box::new(unsupported(SPOKEN)));
        };
        let interface = &self.0.parts.interface;
        let path = request.uri().path();
        let refuse = |status: Status| {
            let (message, quota) = (0, clearance_runtime::memory::MemoryQuota::of_nobody());
            let interface = interface.clone();
            let telling = Telling { protocol, message, interface, quota, id: id.clone() };
            Box::new(telling.refusal(&status))
        };
        let Some(method) = interface.method(path) else {
            let name = path.trim_start_matches('/');
            return Err(refuse(Status::unimplemented(format!("there is no method {name:?}"))));
        };
        if method.takes_many {
            let name = path.trim_start_matches('/');
            let why = format!(
                "{name} takes a stream of requests, which HTTP/1.1 cannot carry beside its \
                 replies: call it over gRPC, at the address that the server listens on"
            );
            return Err(refuse(Status::unimplemented(why)));
        }
        if !protocol.fits(method.tells_many) {
            let fitting = if method.tells_many { OF_STREAMS } else { OF_MESSAGES };
            return Err(Box::new(unsupported(fitting)));
        }
        Ok(WebCall { protocol, method })
    }
}

/// As many calls as there can be connections.
fn places(limits: &Limits) -> u32 {
    let most = u32::MAX >> 3;
    u32::try_from(limits.http_connections_max).unwrap_or(most).clamp(1, most)
}

const POSTS: &str = "Methods are called by POST, as `curl -H 'content-type: application/json' -d \
                     '{}' http://HOST:PORT/clearance.v1.ServerService/GetServerInfo` does.\n";

/// The content types of a method that is answered with a stream.
const OF_STREAMS: &str = "application/connect+json, application/connect+proto, \
                          application/grpc-web+proto, application/grpc-web-text+proto";

/// Those of a method that is answered with a message.
const OF_MESSAGES: &str = "application/json, application/proto, application/grpc-web+proto, \
                           application/grpc-web-text+proto";

fn plain(status: StatusCode, text: String) -> Response<ReplyBody> {
    content(status, TEXT, ReplyBody::whole(text.into()))
}

fn unsupported(spoken: &'static str) -> Response<ReplyBody> {
    let text = format!("The content type of a call of this method is one of: {spoken}.\n");
    let mut response = plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, text);
    let name = HeaderName::from_static("accept-post");
    response.headers_mut().insert(name, HeaderValue::from_static(spoken));
    response
}

fn stranger(origin: &str) -> Response<ReplyBody> {
    let text = format!(
        "Pages from {origin} may not call this server: its setting cors_origins does not list \
         them.\n"
    );
    plain(StatusCode::FORBIDDEN, text)
}

fn asked_form(asking: &WebCall) -> AskedForm {
    match asking.protocol {
        Protocol::GrpcWeb { is_text: false } | Protocol::ConnectStream(Format::Proto) => {
            AskedForm::Prefixed
        }
        Protocol::GrpcWeb { is_text: true } => AskedForm::PrefixedText,
        Protocol::ConnectUnary(Format::Proto) => AskedForm::Whole,
        Protocol::ConnectUnary(Format::Json) => AskedForm::Json(asking.method.asked),
        Protocol::ConnectStream(Format::Json) => AskedForm::PrefixedJson(asking.method.asked),
    }
}

/// A request as a call of gRPC.
fn call<B, C>(
    request: Request<B>,
    headers: HeaderMap,
    asked: impl FnOnce(B) -> C,
    peer: Peer,
) -> Request<Body>
where
    C: HttpBody<Data = Bytes, Error = Status> + Send + 'static,
{
    let (parts, body) = request.into_parts();
    let mut call = Request::new(Body::new(asked(body)));
    *call.method_mut() = Method::POST;
    *call.version_mut() = Version::HTTP_2;
    *call.uri_mut() = parts.uri;
    *call.headers_mut() = headers;
    call.extensions_mut().insert(peer);
    call.extensions_mut().extend(parts.extensions);
    call
}

/// The headers of a call, or why there is none.
fn call_headers(asked: &HeaderMap, protocol: Protocol) -> Result<HeaderMap, Status> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(TE, HeaderValue::from_static("trailers"));
    for name in PASSED_ON {
        for value in asked.get_all(&name) {
            headers.append(name.clone(), value.clone());
        }
    }
    if let Protocol::GrpcWeb { .. } = protocol {
        if let Some(time) = asked.get(GRPC_TIMEOUT) {
            headers.insert(GRPC_TIMEOUT, time.clone());
        }
        return Ok(headers);
    }
    let wrong = |problem: String| Err(Status::invalid_argument(problem));
    if let Some(version) = asked.get(CONNECT_VERSION).filter(|version| *version != "1") {
        return wrong(format!("{CONNECT_VERSION}: it has to be \"1\", not {version:?}"));
    }
    for name in [CONTENT_ENCODING.as_str(), CONNECT_ENCODING] {
        if let Some(encoding) = asked.get(name).filter(|encoding| *encoding != "identity") {
            let problem = format!("{name}: {encoding:?} is not read here; identity is");
            return Err(Status::unimplemented(problem));
        }
    }
    if let Some(time) = asked.get(CONNECT_TIMEOUT) {
        let text = time.to_str().unwrap_or_default();
        let is_time = (1..=TIMEOUT_DIGITS_MAX).contains(&text.len());
        let millis = text.parse::<u64>().ok();
        let is_time = is_time && text.bytes().all(|byte| byte.is_ascii_digit());
        let Some(millis) = millis.filter(|_| is_time) else {
            return wrong(format!("{CONNECT_TIMEOUT}: milliseconds in at most ten digits"));
        };
        // In gRPC there are eight digits: what has more is told in seconds.
        let in_grpc = match millis {
            0..100_000_000 => format!("{millis}m"),
            _ => format!("{}S", millis / 1_000),
        };
        if let Ok(value) = HeaderValue::from_str(&in_grpc) {
            headers.insert(GRPC_TIMEOUT, value);
        }
    }
    Ok(headers)
}
