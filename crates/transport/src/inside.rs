//! Calls of this process itself: requests and replies as bytes, with no connection between.
//!
//! They pass through the same surroundings as calls over HTTP/2, and so meet the same limits, the
//! same account of memory, the same time limits and the same statuses. Nothing waits in buffers
//! of a transport: a message is handed over when it is taken, and a reply is read when it is asked
//! for.
//! A call whose future is dropped is given up, as one whose client hangs up.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderValue, TE};
use http::{HeaderMap, Method, Request, Uri, Version};
use http_body::Frame;
use http_body_util::BodyExt;
use prost::bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::sync::mpsc;
use tonic::body::Body;
use tonic::{Code, Status};
use tower::ServiceExt;

use super::connection::Peer;
use super::http2::AllServices;

/// What comes before each message: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;

/// The longest time in a unit that gRPC can write: eight digits.
const DIGITS_MAX: u128 = 99_999_999;

/// A call that is to be made.
#[derive(Clone, Debug)]
pub struct InsideCall<'a> {
    /// The method as its URI names it: `/clearance.v1.ServerService/GetServerInfo`.
    pub method: &'a str,
    /// How long the caller waits; none: as long as the server lets it.
    pub time: Option<Duration>,
    /// Who calls.
    pub peer: Peer,
}

/// The messages of a request.
struct Outgoing {
    /// What is read next, in pieces.
    pieces: VecDeque<Bytes>,
    /// Where more messages come from; none: there are no more.
    more: Option<mpsc::Receiver<Bytes>>,
}

/// The messages of a reply, as they come.
#[derive(Debug)]
pub struct InsideReply {
    body: Body,
    /// What has come of messages that nobody has taken yet.
    came: BytesMut,
    /// How the call has ended, if it has.
    ended: Option<Result<(), Status>>,
}

/// Asks with one message, and waits for the one message of the reply.
pub async fn ask(
    services: AllServices,
    call: InsideCall<'_>,
    request: Bytes,
) -> Result<Bytes, Status> {
    let body = Outgoing { pieces: pieces_of(request)?, more: None };
    let mut reply = begin(services, call, body).await?;
    let Some(message) = reply.next().await? else {
        return Err(Status::internal("the reply has no message"));
    };
    // How it ended is told after the message.
    match reply.next().await? {
        None => Ok(message),
        Some(_) => Err(Status::internal("the reply has several messages")),
    }
}

/// Begins a call whose messages come from a channel, and end with it.
pub async fn talk(
    services: AllServices,
    call: InsideCall<'_>,
    requests: mpsc::Receiver<Bytes>,
) -> Result<InsideReply, Status> {
    begin(services, call, Outgoing { pieces: VecDeque::new(), more: Some(requests) }).await
}

async fn begin(
    services: AllServices,
    call: InsideCall<'_>,
    body: Outgoing,
) -> Result<InsideReply, Status> {
    let request = request(call, Body::new(body))?;
    let response = match services.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let (head, body) = response.into_parts();
    // A reply that is over at once says so in its headers.
    let ended = Status::from_header_map(&head.headers).map(ok_or);
    Ok(InsideReply { body, came: BytesMut::new(), ended })
}

fn request(call: InsideCall<'_>, body: Body) -> Result<Request<Body>, Status> {
    let InsideCall { method, time, peer } = call;
    let uri = method.parse::<Uri>().ok();
    let uri = uri.filter(|uri| uri.path() == method && method.starts_with('/'));
    let uri = uri.ok_or_else(|| Status::unimplemented(format!("{method:?} is no method")))?;
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.version_mut() = Version::HTTP_2;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers(time);
    request.extensions_mut().insert(peer);
    Ok(request)
}

fn headers(time: Option<Duration>) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(3);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(TE, HeaderValue::from_static("trailers"));
    if let Some(value) = time.and_then(|time| HeaderValue::try_from(timeout(time)).ok()) {
        headers.insert("grpc-timeout", value);
    }
    headers
}

/// A time as gRPC writes it, rounded down to what eight digits tell.
fn timeout(time: Duration) -> String {
    let units = [(time.as_micros(), 'u'), (time.as_millis(), 'm')];
    let written = units.iter().find(|(count, _)| *count <= DIGITS_MAX);
    let seconds = || (u128::from(time.as_secs()).min(DIGITS_MAX), 'S');
    let (count, unit) = written.copied().unwrap_or_else(seconds);
    format!("{count}{unit}")
}

/// A message with its prefix, which is apart so that the message is not copied.
fn pieces_of(message: Bytes) -> Result<VecDeque<Bytes>, Status> {
    let length = u32::try_from(message.len())
        .map_err(|_| Status::resource_exhausted("the message has more than 4 GiB"))?;
    let mut prefix = BytesMut::with_capacity(PREFIX_BYTES);
    prefix.put_u8(0);
    prefix.put_u32(length);
    let pieces = [prefix.freeze(), message];
    Ok(pieces.into_iter().filter(|piece| !piece.is_empty()).collect())
}

fn ok_or(status: Status) -> Result<(), Status> {
    if status.code() == Code::Ok { Ok(()) } else { Err(status) }
}

impl InsideReply {
    /// The next message; none: the call has ended well, and there are no more.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        loop {
            if let Some(message) = self.whole()? {
                return Ok(Some(message));
            }
            if let Some(ended) = &self.ended {
                return ended.clone().map(|()| None);
            }
            match self.body.frame().await {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.came.extend_from_slice(&data),
                    Err(frame) => self.ended = Some(told(frame)),
                },
                Some(Err(status)) => self.ended = Some(Err(status)),
                None => self.ended = Some(Err(Status::unknown("the reply has no status"))),
            }
        }
    }

    /// The message that has come as a whole, if one has.
    fn whole(&mut self) -> Result<Option<Bytes>, Status> {
        let Some((prefix, came)) = self.came.split_at_checked(PREFIX_BYTES) else {
            return Ok(None);
        };
        let [compressed, a, b, c, d] = *prefix else { return Ok(None) };
        if compressed != 0 {
            return Err(Status::internal("the reply is compressed, and nobody asked for that"));
        }
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if came.len() < length {
            self.came.reserve(length - came.len());
            return Ok(None);
        }
        self.came.advance(PREFIX_BYTES);
        Ok(Some(self.came.split_to(length).freeze()))
    }
}

/// How a reply ends that has this last part.
fn told(frame: Frame<Bytes>) -> Result<(), Status> {
    let trailers = frame.into_trailers().unwrap_or_default();
    let status = Status::from_header_map(&trailers);
    ok_or(status.unwrap_or_else(|| Status::unknown("the reply has no status")))
}

impl http_body::Body for Outgoing {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            let Some(more) = &mut self.more else { return Poll::Ready(None) };
            match ready!(more.poll_recv(context)).map(pieces_of) {
                Some(Ok(pieces)) => self.pieces = pieces,
                Some(Err(status)) => return Poll::Ready(Some(Err(status))),
                None => self.more = None,
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty() && self.more.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(parts: Vec<Frame<Bytes>>) -> InsideReply {
        let parts = parts.into_iter().map(Ok::<_, Status>);
        let body = http_body_util::StreamBody::new(tokio_stream::iter(parts));
        InsideReply { body: Body::new(body), came: BytesMut::new(), ended: None }
    }

    fn ended(code: &'static str) -> Frame<Bytes> {
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", HeaderValue::from_static(code));
        Frame::trailers(trailers)
    }

    #[tokio::test]
    async fn messages_are_whole_however_they_are_cut() {
        let bytes: Vec<u8> = [&[0][..], b"abc", b""]
            .iter()
            .flat_map(|message| pieces_of(Bytes::copy_from_slice(message)).unwrap())
            .flatten()
            .collect();
        for step in 1..=bytes.len() {
            let pieces = bytes.chunks(step).map(|piece| Frame::data(Bytes::copy_from_slice(piece)));
            let mut reply = reply(pieces.chain([ended("0")]).collect());
            for expected in [&[0][..], b"abc", b""] {
                assert_eq!(reply.next().await.unwrap().unwrap(), expected, "by {step}");
            }
            assert!(reply.next().await.unwrap().is_none(), "by {step}");
            assert!(reply.next().await.unwrap().is_none(), "it stays ended");
        }
    }

    #[tokio::test]
    async fn how_a_reply_ended_is_told_after_its_messages() {
        let message = Frame::data(Bytes::from_static(&[0, 0, 0, 0, 1, 7]));
        let mut failed = reply(vec![message, ended("8")]);
        assert_eq!(failed.next().await.unwrap().unwrap(), &[7][..]);
        assert_eq!(failed.next().await.unwrap_err().code(), Code::ResourceExhausted);
        let mut cut = reply(vec![Frame::data(Bytes::from_static(&[0, 0, 0]))]);
        assert_eq!(cut.next().await.unwrap_err().code(), Code::Unknown);
        let mut compressed = reply(vec![Frame::data(Bytes::from_static(&[1, 0, 0, 0, 0]))]);
        assert_eq!(compressed.next().await.unwrap_err().code(), Code::Internal);
    }

    #[test]
    fn times_are_written_in_eight_digits_at_most() {
        for (time, written) in [
            (Duration::ZERO, "0u"),
            (Duration::from_micros(1_500), "1500u"),
            (Duration::from_secs(99), "99000000u"),
            (Duration::from_secs(100), "100000m"),
            (Duration::from_secs(1 << 20), "1048576S"),
            (Duration::MAX, "99999999S"),
        ] {
            assert_eq!(timeout(time), written);
        }
    }

    #[test]
    fn what_is_no_path_is_no_method() {
        let peer = Peer::inside(&clearance_runtime::memory::MemoryBudget::new(
            clearance_runtime::settings::Limits::default().memory_bytes_max(),
        ));
        for method in ["", "x", "/a b", "/a?b", "http://a/b", "*"] {
            let call = InsideCall { method, time: None, peer: peer.clone() };
            let status = request(call, Body::empty()).unwrap_err();
            assert_eq!(status.code(), Code::Unimplemented, "{method:?}");
        }
    }
}
