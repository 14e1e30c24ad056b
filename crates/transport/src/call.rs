//! One call over HTTP/2: its request as it is read, and its reply as the client takes it.
//!
//! Nothing of a reply is handed to the transport that the client's windows do not let go, so that
//! what is not taken waits where it is counted, and a stream that nobody reads holds no part of the
//! connection's window.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::{Body as _, Frame};
use prost::bytes::Bytes;
use tokio::sync::oneshot;
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;
use tower::ServiceExt;

use super::connection::Peer;
use super::layer::{Surrounded, id_from, named};
use super::unread::{Unread, UnreadStream};
use clearance_runtime::access::Grant;
use clearance_runtime::latch::{Latch, Stopping};
use clearance_runtime::memory::OutOfMemory;
use clearance_runtime::request::RequestId;
use clearance_wire::status::{Failure, with_request_id};

/// So much of a reply is sent before other streams of the connection have their turns: a frame.
const PIECE_BYTES: usize = 16 << 10;

/// The trailer by which the replies of a server say that it is about to stop.
const DRAINING: &str = "clearance-draining";

/// A call as the transport has it.
pub(super) struct Exchange {
    request: Request<RecvStream>,
    respond: SendResponse<Bytes>,
    unread: UnreadStream,
    given_up: oneshot::Receiver<OutOfMemory>,
}

/// The body of a request.
struct Received {
    stream: RecvStream,
    unread: UnreadStream,
    are_data_over: bool,
    /// Of a stream that lives as long as its client likes and does no work: its requests end when
    /// this turns true.
    drains: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

/// Why a reply is not sent to its end.
enum Ended {
    /// The client does not want it any more, or is gone.
    Unwanted,
    /// The reply cannot go on.
    Broken,
}

impl From<h2::Error> for Ended {
    fn from(_: h2::Error) -> Self {
        Self::Unwanted
    }
}

impl Exchange {
    /// A stream that the transport has accepted.
    pub(super) fn new(
        request: Request<RecvStream>,
        respond: SendResponse<Bytes>,
        unread: &Unread,
    ) -> Self {
        let (unread, given_up) = unread.take_on(respond.stream_id().as_u32());
        Self { request, respond, unread, given_up }
    }

    /// Lets a service answer it.
    pub(super) async fn answer(self, services: Surrounded<Routes>, peer: Peer, stopping: Stopping) {
        let Stopping { leaving, draining } = stopping;
        let Self { mut request, mut respond, unread, given_up } = self;
        let mut given_up = std::pin::pin!(told(given_up));
        request.extensions_mut().insert(peer);
        let id = id_from(request.headers());
        request.extensions_mut().insert(id.clone());
        let is_reflection = request.uri().path().starts_with("/grpc.reflection.");
        let request = request.map(|stream| {
            let drains = is_reflection.then(|| Box::pin(draining.until_set()) as _);
            Body::new(Received { stream, unread, are_data_over: false, drains })
        });
        let response = tokio::select! {
            biased;
            response = services.oneshot(request) => match response {
                Ok(response) => response,
                Err(never) => match never {},
            },
            // This reply is over at once: nobody asks again.
            full = &mut given_up => named(Status::from(Failure::from(full)).into_http(), &id),
            // It is dropped, and with it whatever runs for it.
            _reset = std::future::poll_fn(|context| respond.poll_reset(context)) => return,
        };
        let (mut head, body) = response.into_parts();
        let grant = head.extensions.remove::<Grant>();
        let is_over = body.is_end_stream();
        if is_over {
            tell_leaving(&leaving, &mut head.headers);
        }
        let Ok(stream) = respond.send_response(Response::from_parts(head, ()), is_over) else {
            respond.send_reset(Reason::INTERNAL_ERROR);
            return;
        };
        if is_over {
            return;
        }
        let mut reply = OutgoingReply { stream, body, data: Bytes::new(), leaving, id };
        let ended = tokio::select! {
            biased;
            full = &mut given_up => reply.end(full.into()),
            () = revoked(grant) => reply.end(Failure::WrongKey),
            ended = std::future::poll_fn(|context| reply.poll(context)) => ended,
        };
        if let Err(Ended::Broken) = ended {
            reply.stream.send_reset(Reason::INTERNAL_ERROR);
        }
    }
}

/// When a call has to give way. That it never will is no reason to end.
async fn told(given_up: oneshot::Receiver<OutOfMemory>) -> OutOfMemory {
    match given_up.await {
        Ok(full) => full,
        Err(_) => std::future::pending().await,
    }
}

/// When the key or the token that a call was made with is good no more.
pub(super) async fn revoked(grant: Option<Grant>) {
    match grant {
        Some(grant) => grant.until_over().await,
        None => std::future::pending().await,
    }
}

/// Says in what a reply ends with that the server is about to stop, if it is.
fn tell_leaving(leaving: &Latch, trailers: &mut HeaderMap) {
    if leaving.is_set() {
        trailers.insert(DRAINING, HeaderValue::from_static("true"));
    }
}

/// A status as it follows a reply.
fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    // One that cannot be written is told as none: the client takes it for UNKNOWN.
    let _ = status.add_header(&mut trailers);
    trailers
}

/// A reply on its way.
struct OutgoingReply {
    stream: SendStream<Bytes>,
    body: Body,
    /// What the body has given and the client has not taken.
    data: Bytes,
    /// Set when the server is about to stop.
    leaving: Latch,
    /// Which request it answers.
    id: RequestId,
}

impl OutgoingReply {
    /// Says why there is no more of it.
    fn end(&mut self, why: Failure) -> Result<(), Ended> {
        let status = with_request_id(&why.into(), self.id.as_str());
        self.stream.send_trailers(trailers(&status)).map_err(Ended::from)
    }

    /// Ready when all is handed to the transport.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        loop {
            // Also wakes this when the client gives the call up.
            if self.stream.poll_reset(context)?.is_ready() {
                return Poll::Ready(Err(Ended::Unwanted));
            }
            if !self.data.is_empty() {
                let room = ready!(self.poll_room(context))?;
                let piece = self.data.split_to(self.data.len().min(room));
                let is_over = self.data.is_empty() && self.body.is_end_stream();
                self.stream.send_data(piece, is_over)?;
                if is_over {
                    return Poll::Ready(Ok(()));
                }
                continue;
            }
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if data.is_empty() && self.body.is_end_stream() => {
                        self.stream.send_data(data, true)?;
                        return Poll::Ready(Ok(()));
                    }
                    Ok(data) => self.data = data,
                    Err(frame) => {
                        let mut trailers = frame.into_trailers().unwrap_or_default();
                        tell_leaving(&self.leaving, &mut trailers);
                        self.stream.send_trailers(trailers)?;
                        return Poll::Ready(Ok(()));
                    }
                },
                Some(Err(_)) => return Poll::Ready(Err(Ended::Broken)),
                None => {
                    self.stream.send_data(Bytes::new(), true)?;
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }

    /// How many bytes of the data the client takes now. Room is asked for only while there are data
    /// for it: what one stream has and does not use, others of the connection lack.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<Result<usize, Ended>> {
        self.stream.reserve_capacity(self.data.len().min(PIECE_BYTES));
        while self.stream.capacity() == 0 {
            match ready!(self.stream.poll_capacity(context)) {
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Poll::Ready(Err(Ended::Unwanted)),
            }
        }
        Poll::Ready(Ok(self.stream.capacity()))
    }
}

impl http_body::Body for Received {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        let this = &mut *self;
        if let Some(drains) = &mut this.drains
            && drains.as_mut().poll(context).is_ready()
        {
            this.drains = None;
            return Poll::Ready(None);
        }
        if !this.are_data_over {
            match ready!(this.stream.poll_data(context)) {
                Some(Ok(data)) => {
                    // Fails only where the stream is over.
                    let _ = this.stream.flow_control().release_capacity(data.len());
                    this.unread.read(data.len());
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                Some(Err(error)) => return Poll::Ready(unless_done(error)),
                None => this.are_data_over = true,
            }
        }
        match ready!(this.stream.poll_trailers(context)) {
            Ok(trailers) => Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers)))),
            Err(error) => Poll::Ready(unless_done(error)),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.stream.is_end_stream()
    }
}

/// A client that resets a stream without an error has no more to say (RFC 9113, section 8.1).
fn unless_done(error: h2::Error) -> Option<Result<Frame<Bytes>, h2::Error>> {
    (error.reason() != Some(Reason::NO_ERROR)).then_some(Err(error))
}
