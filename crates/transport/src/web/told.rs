//! What a reply of gRPC becomes in the words of another protocol.
//!
//! Messages that are written as gRPC writes them go on as they come; what has another form is
//! written within the account of memory. A status that follows a reply is the last message of a
//! stream, or, where a reply is one message, the status of HTTP.

use std::pin::Pin;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_LENGTH, HeaderValue};
use http::{HeaderMap, Response, StatusCode};
use http_body::Body as _;
use prost::bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::sync::{mpsc, oneshot};
use tonic::body::Body;
use tonic::{Code, Status};

use super::super::call::revoked;
use super::super::intake::aside_if_large;
use super::super::unsent::SMALL_REPLY;
use super::asked::PREFIX_BYTES;
use super::connect_error::{code, error};
use super::interface::Interface;
use super::json::{Metered, write};
use super::protocol::{Format, Protocol};
use super::reply_body::{ReplyBody, content};
use clearance_runtime::access::Grant;
use clearance_runtime::memory::{MemoryKind, MemoryQuota, Reservation};
use clearance_runtime::request::{REQUEST_ID, RequestId};
use clearance_wire::status::{Failure, with_request_id};

/// The first byte of what follows the messages of a stream: in gRPC-Web trailers, in Connect an
/// object.
const TRAILERS: u8 = 0x80;
const END_STREAM: u8 = 2;

/// How the reply to a request is told.
pub(super) struct Telling {
    /// In which words.
    pub(super) protocol: Protocol,
    /// The index of the message that its replies are.
    pub(super) message: usize,
    /// Where messages are described.
    pub(super) interface: std::sync::Arc<Interface>,
    /// Who pays.
    pub(super) quota: MemoryQuota,
    /// Which request it answers.
    pub(super) id: RequestId,
}

/// Where a reply goes: its head first.
type Head = oneshot::Sender<Response<ReplyBody>>;

/// The client is gone, or has been told all.
struct Over;

impl Telling {
    /// Tells a reply to its end, or until nobody wants it any more.
    pub(super) async fn tell(mut self, response: Response<Body>, head: Head) {
        let (mut parts, body) = response.into_parts();
        let grant = parts.extensions.remove::<Grant>();
        if let Some(grant) = &grant {
            self.quota = self.quota.for_call_of(grant.principal);
        }
        // A reply that is over at once says so in its headers.
        let ended = Status::from_header_map(&parts.headers);
        // Whoever hears no more of it has gone.
        let _ = match self.protocol {
            Protocol::ConnectUnary(format) => self.tell_one(ended, body, head, format).await,
            Protocol::ConnectStream(_) | Protocol::GrpcWeb { .. } => {
                self.tell_many(ended, body, head, grant).await
            }
        };
    }

    /// A call that is not made.
    pub(super) fn refusal(&self, status: &Status) -> Response<ReplyBody> {
        match self.protocol {
            Protocol::ConnectUnary(_) => self.connect_refusal(status),
            Protocol::ConnectStream(_) | Protocol::GrpcWeb { .. } => {
                self.headed(ReplyBody::whole(self.encoded(self.end(status))))
            }
        }
    }

    fn headed(&self, body: ReplyBody) -> Response<ReplyBody> {
        content(StatusCode::OK, self.protocol.content_type(), body)
    }

    /// The whole of a reply that has one message.
    async fn tell_one(
        &self,
        mut ended: Option<Status>,
        mut body: Body,
        mut head: Head,
        format: Format,
    ) -> Result<(), Over> {
        let mut came = BytesMut::new();
        while ended.is_none() {
            let part = tokio::select! {
                part = next(&mut body) => part,
                () = head.closed() => return Err(Over),
            };
            match part {
                NextPart::Data(data) => came.extend_from_slice(&data),
                NextPart::End(status) => ended = Some(status),
            }
        }
        let status = ended.unwrap_or_else(|| Status::unknown("the reply has no status"));
        let is_told = status.code() == Code::Ok;
        let told = if is_told { self.message(came.freeze(), format) } else { Err(status) };
        let (bytes, memory) = match told {
            Ok(told) => told,
            Err(status) => {
                return head.send(self.connect_refusal(&status)).map_err(|_| Over);
            }
        };
        if bytes.len() <= SMALL_REPLY {
            return head.send(self.headed(ReplyBody::whole(bytes))).map_err(|_| Over);
        }
        let (pieces, reply) = ReplyBody::in_pieces();
        let mut response = self.headed(reply);
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
        head.send(response).map_err(|_| Over)?;
        let sent = send(&pieces, bytes).await;
        // Until then what it takes is counted.
        drop((memory, body));
        sent
    }

    /// The only message of a reply.
    fn message(
        &self,
        mut came: Bytes,
        format: Format,
    ) -> Result<(Bytes, Option<Reservation>), Status> {
        let message = take_message(&mut came)?;
        match format {
            Format::Proto => Ok((message, None)),
            Format::Json => self.json(&message),
        }
    }

    fn json(&self, message: &[u8]) -> Result<(Bytes, Option<Reservation>), Status> {
        let mut text = Metered::new(self.quota.clone());
        aside_if_large(message.len() as u64, || {
            write(&self.interface, self.message, message, &mut text)
        })?;
        let (text, memory) = text.finish();
        Ok((text.into(), memory))
    }

    /// A stream, message by message.
    async fn tell_many(
        &self,
        mut ended: Option<Status>,
        mut body: Body,
        head: Head,
        grant: Option<Grant>,
    ) -> Result<(), Over> {
        let (pieces, reply) = ReplyBody::in_pieces();
        head.send(self.headed(reply)).map_err(|_| Over)?;
        let mut revoked = std::pin::pin!(revoked(grant));
        let mut texts = Texts::default();
        while ended.is_none() {
            let part = tokio::select! {
                biased;
                () = pieces.closed() => return Err(Over),
                () = &mut revoked => NextPart::End(Failure::WrongKey.into()),
                part = next(&mut body) => part,
            };
            match part {
                NextPart::Data(data) if self.protocol == Protocol::ConnectStream(Format::Json) => {
                    texts.came(&data, &self.quota);
                    while let Some(message) = texts.next() {
                        match message.and_then(|message| self.json(&message)) {
                            Ok((text, memory)) => {
                                send(&pieces, prefix(0, text.len())).await?;
                                send(&pieces, text).await?;
                                drop(memory);
                            }
                            Err(status) => ended = Some(status),
                        }
                    }
                }
                NextPart::Data(data) => send(&pieces, self.encoded(data)).await?,
                NextPart::End(status) => ended = Some(status),
            }
        }
        let status = ended.unwrap_or_else(|| Status::unknown("the reply has no status"));
        send(&pieces, self.encoded(self.end(&status))).await
    }

    /// The last message of a stream, which has its status.
    fn end(&self, status: &Status) -> Bytes {
        let status = &self.named(status);
        let (first, text) = match self.protocol {
            Protocol::GrpcWeb { .. } => (TRAILERS, trailers(status)),
            Protocol::ConnectStream(_) | Protocol::ConnectUnary(_) => {
                (END_STREAM, end_stream(&self.interface, status))
            }
        };
        let mut bytes = BytesMut::from(&prefix(first, text.len())[..]);
        bytes.put_slice(&text);
        bytes.freeze()
    }

    /// A refusal in the words of Connect, where a reply is one message.
    fn connect_refusal(&self, status: &Status) -> Response<ReplyBody> {
        let json = HeaderValue::from_static("application/json");
        let body = ReplyBody::whole(error(&self.interface, &self.named(status)).into());
        content(code(status.code()).1, json, body)
    }

    /// A status that says which request it answers, if it is no success.
    fn named(&self, status: &Status) -> Status {
        if status.code() == Code::Ok {
            return status.clone();
        }
        let mut named = with_request_id(status, self.id.as_str());
        // It stands in the head already.
        named.metadata_mut().remove(REQUEST_ID);
        named
    }

    /// Bytes as the protocol has them.
    fn encoded(&self, bytes: Bytes) -> Bytes {
        match self.protocol {
            Protocol::GrpcWeb { is_text: true } => STANDARD.encode(&bytes).into(),
            Protocol::GrpcWeb { is_text: false }
            | Protocol::ConnectStream(_)
            | Protocol::ConnectUnary(_) => bytes,
        }
    }
}

/// What comes next of a reply.
enum NextPart {
    Data(Bytes),
    End(Status),
}

async fn next(body: &mut Body) -> NextPart {
    let part = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await;
    match part {
        Some(Ok(frame)) => match frame.into_data() {
            Ok(data) => NextPart::Data(data),
            Err(frame) => {
                let trailers = frame.into_trailers().unwrap_or_default();
                let status = Status::from_header_map(&trailers);
                let none = || Status::unknown("the reply has no status");
                NextPart::End(status.unwrap_or_else(none))
            }
        },
        Some(Err(status)) => NextPart::End(status),
        None => NextPart::End(Status::unknown("the reply has no status")),
    }
}

/// Sends bytes in pieces, so that what nobody reads waits where it is counted.
async fn send(pieces: &mpsc::Sender<Bytes>, mut bytes: Bytes) -> Result<(), Over> {
    while !bytes.is_empty() {
        let piece = bytes.split_to(bytes.len().min(SMALL_REPLY));
        pieces.send(piece).await.map_err(|_| Over)?;
    }
    Ok(())
}

/// Messages of a stream that are written anew.
#[derive(Default)]
struct Texts {
    came: BytesMut,
    memory: Option<Reservation>,
}

impl Texts {
    fn came(&mut self, data: &[u8], quota: &MemoryQuota) {
        self.came.extend_from_slice(data);
        let bytes = self.came.len();
        // What is there already is counted, and not refused.
        self.memory = (bytes > SMALL_REPLY).then(|| quota.hold(MemoryKind::Replies, bytes as u64));
    }

    /// The next message that is whole.
    fn next(&mut self) -> Option<Result<Bytes, Status>> {
        let length = self.came.get(1..PREFIX_BYTES)?;
        let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        if self.came.len() < PREFIX_BYTES + length {
            return None;
        }
        let mut bytes = self.came.split_to(PREFIX_BYTES + length).freeze();
        Some(take_message(&mut bytes))
    }
}

/// The message that these bytes begin with, which has to be there.
fn take_message(bytes: &mut Bytes) -> Result<Bytes, Status> {
    if bytes.len() < PREFIX_BYTES || bytes.get_u8() != 0 {
        return Err(Status::internal("the reply has no message, or it is compressed"));
    }
    let length = bytes.get_u32() as usize;
    if bytes.len() < length {
        return Err(Status::internal("the reply ends too early"));
    }
    Ok(bytes.split_to(length))
}

fn prefix(first: u8, length: usize) -> Bytes {
    let mut prefix = BytesMut::with_capacity(PREFIX_BYTES);
    prefix.put_u8(first);
    // Messages of gRPC are no longer than this.
    prefix.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
    prefix.freeze()
}

/// A status as the headers that would follow a reply, a line for each.
fn trailers(status: &Status) -> Vec<u8> {
    let mut headers = HeaderMap::new();
    // One that cannot be written is told as none: the client takes it for UNKNOWN.
    let _ = status.add_header(&mut headers);
    let mut text = Vec::new();
    for (name, value) in &headers {
        text.extend_from_slice(name.as_str().as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(value.as_bytes());
        text.extend_from_slice(b"\r\n");
    }
    text
}

fn end_stream(interface: &Interface, status: &Status) -> Vec<u8> {
    if status.code() == Code::Ok {
        return b"{}".to_vec();
    }
    [&b"{\"error\":"[..], &error(interface, status), b"}"].concat()
}
