//! What a request brings, as gRPC has it: messages with prefixes.
//!
//! Bytes that are written as gRPC writes them go on as they come, and are counted where those of
//! every call are. A body that is one message in another form is gathered first, within the account
//! of memory, the limit on messages and the time that one may take.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body::{Body, Frame};
use prost::bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::time::Sleep;
use tonic::Status;

use super::super::intake::aside_if_large;
use super::interface::Interface;
use super::json::read;
use clearance_runtime::memory::{Arrival, CALL_BYTES, MemoryQuota};
use clearance_runtime::settings::Limits;
use clearance_wire::status::Failure;

/// What comes before each message: whether it is compressed, and its length.
pub(super) const PREFIX_BYTES: usize = 5;

/// How many times the bytes of its text a message may take beside it: `0,` in a list of doubles.
const TEXT_FACTOR: u64 = 4;

/// How the messages of a request are written.
#[derive(Clone, Copy, Debug)]
pub(super) enum AskedForm {
    /// As gRPC writes them.
    Prefixed,
    /// So, and all of it in base64.
    PrefixedText,
    /// The body is a message.
    Whole,
    /// The body is a message in JSON, of this index.
    Json(usize),
    /// The body is a message in JSON, of this index, after a prefix.
    PrefixedJson(usize),
}

/// What the bodies of requests are held to.
#[derive(Clone, Debug)]
pub(super) struct AskedRules {
    /// Where messages are described.
    pub(super) interface: std::sync::Arc<Interface>,
    /// How long and how large a message may be.
    pub(super) limits: Limits,
    /// Who pays.
    pub(super) quota: MemoryQuota,
}

/// The body of a request.
pub(super) struct WebRequestBody<B> {
    body: B,
    form: AskedForm,
    rules: AskedRules,
    /// What has come and did not go on.
    came: BytesMut,
    memory: Option<Arrival>,
    /// Runs once a message that is gathered has begun.
    patience: Option<Pin<Box<Sleep>>>,
    is_over: bool,
}

type BodyPart = Result<Frame<Bytes>, Status>;

impl<B> WebRequestBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    /// That of a request.
    pub(super) fn new(body: B, form: AskedForm, rules: AskedRules) -> Self {
        let (came, is_over) = (BytesMut::new(), false);
        let mut asked = Self { body, form, rules, came, memory: None, patience: None, is_over };
        // Of a message whose length is told the prefix is known, and the rest goes on as it comes.
        let length = asked.body.size_hint().exact();
        if let (AskedForm::Whole, Some(length)) = (form, length)
            && let Ok(length) = u32::try_from(length)
        {
            asked.came = prefix(length);
            asked.form = AskedForm::Prefixed;
        }
        asked
    }

    fn limit(&self) -> u64 {
        self.rules.limits.message_bytes_max.saturating_add(PREFIX_BYTES as u64)
    }

    fn too_long(&self) -> Status {
        // In the words of the transport, which become those of the table.
        Status::out_of_range("message length too large")
    }

    /// Keeps bytes until the message is there.
    fn keep(&mut self, data: &[u8]) -> Result<(), Status> {
        let bytes = (self.came.len() + data.len()) as u64;
        if bytes > self.limit() {
            return Err(self.too_long());
        }
        self.count(bytes)?;
        self.came.extend_from_slice(data);
        Ok(())
    }

    fn count(&mut self, bytes: u64) -> Result<(), Status> {
        if bytes <= CALL_BYTES / 2 {
            return Ok(());
        }
        match &mut self.memory {
            Some(memory) => memory.grow_to(bytes).map_err(Failure::from)?,
            none => *none = Some(self.rules.quota.arrival(bytes).map_err(Failure::from)?),
        }
        Ok(())
    }

    /// The message that was gathered, as gRPC has it.
    fn whole(&mut self) -> Result<Bytes, Status> {
        let came = std::mem::take(&mut self.came).freeze();
        let (text, message) = match self.form {
            AskedForm::Json(message) => (came, message),
            AskedForm::PrefixedJson(message) => (without_prefix(came)?, message),
            AskedForm::Prefixed | AskedForm::PrefixedText | AskedForm::Whole => {
                return prefixed(&came);
            }
        };
        let bytes = text.len() as u64;
        self.count(bytes.saturating_mul(1 + TEXT_FACTOR))?;
        let interface = &self.rules.interface;
        let message = aside_if_large(bytes, || read(interface, message, &text))?;
        drop(text);
        prefixed(&message)
    }

    /// Base64 goes on in groups of four.
    fn decoded(&mut self, data: &[u8]) -> Result<Bytes, Status> {
        self.came.extend_from_slice(data);
        let whole = self.came.len() / 4 * 4;
        let mut bytes = Vec::with_capacity(whole / 4 * 3);
        // Texts may be joined, so padding may be anywhere.
        for four in self.came.split_to(whole).chunks(4) {
            let decoded = STANDARD.decode_vec(four, &mut bytes);
            decoded.map_err(|error| Failure::Malformed(format!("base64: {error}")))?;
        }
        Ok(bytes.into())
    }

    /// Ready when a message that is gathered has to give way, or takes too long.
    fn poll_given_up(&mut self, context: &mut Context<'_>) -> Poll<Status> {
        if let Some(memory) = &self.memory
            && let Poll::Ready(full) = memory.poll_given_up(context)
        {
            return Poll::Ready(Failure::from(full).into());
        }
        let limit = self.rules.limits.message_seconds_max();
        let sleep = || Box::pin(tokio::time::sleep(Duration::from_secs(limit.value)));
        let late = self.patience.get_or_insert_with(sleep).as_mut().poll(context);
        late.map(|()| Failure::from(limit.exceeded_at("message")).into())
    }

    fn poll_body(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>> {
        loop {
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => {
                    // Trailers say nothing that a request needs.
                    if let Ok(data) = frame.into_data() {
                        return Poll::Ready(Some(Ok(data)));
                    }
                }
                Some(Err(error)) => {
                    let error: Box<dyn std::error::Error + Send + Sync> = error.into();
                    return Poll::Ready(Some(Err(Status::cancelled(error.to_string()))));
                }
                None => return Poll::Ready(None),
            }
        }
    }

    /// A message that is gathered.
    fn poll_whole(&mut self, context: &mut Context<'_>) -> Poll<Option<BodyPart>> {
        if self.body.size_hint().lower() > self.limit() {
            self.is_over = true;
            return Poll::Ready(Some(Err(self.too_long())));
        }
        loop {
            if let Poll::Ready(status) = self.poll_given_up(context) {
                self.is_over = true;
                return Poll::Ready(Some(Err(status)));
            }
            match ready!(self.poll_body(context)) {
                Some(data) => {
                    if let Err(status) = data.and_then(|data| self.keep(&data)) {
                        self.is_over = true;
                        return Poll::Ready(Some(Err(status)));
                    }
                }
                None => {
                    self.is_over = true;
                    return Poll::Ready(Some(self.whole().map(Frame::data)));
                }
            }
        }
    }
}

impl<B> Body for WebRequestBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<BodyPart>> {
        let this = &mut *self;
        if this.is_over {
            return Poll::Ready(None);
        }
        match this.form {
            AskedForm::Prefixed if this.came.has_remaining() => {
                let came = std::mem::take(&mut this.came).freeze();
                Poll::Ready(Some(Ok(Frame::data(came))))
            }
            AskedForm::Prefixed => {
                this.poll_body(context).map(|part| part.map(|part| part.map(Frame::data)))
            }
            AskedForm::PrefixedText => match ready!(this.poll_body(context)) {
                Some(data) => {
                    let decoded = data.and_then(|data| this.decoded(&data));
                    Poll::Ready(Some(decoded.map(Frame::data)))
                }
                None => {
                    this.is_over = true;
                    let is_cut = !this.came.is_empty();
                    let cut = || Failure::Malformed("base64: it ends too early".to_owned());
                    Poll::Ready(is_cut.then(|| Err(cut().into())))
                }
            },
            AskedForm::Whole | AskedForm::Json(_) | AskedForm::PrefixedJson(_) => {
                this.poll_whole(context)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.is_over
    }
}

fn prefix(length: u32) -> BytesMut {
    let mut prefix = BytesMut::with_capacity(PREFIX_BYTES);
    prefix.put_u8(0);
    prefix.put_u32(length);
    prefix
}

fn prefixed(message: &[u8]) -> Result<Bytes, Status> {
    let length = u32::try_from(message.len())
        .map_err(|_| Status::out_of_range("message length too large"))?;
    let mut bytes = BytesMut::with_capacity(PREFIX_BYTES + message.len());
    bytes.put_u8(0);
    bytes.put_u32(length);
    bytes.put_slice(message);
    Ok(bytes.freeze())
}

/// The one message of a stream of requests that has one.
fn without_prefix(mut came: Bytes) -> Result<Bytes, Status> {
    let wrong = |why: &str| Err(Failure::Malformed(why.to_owned()).into());
    if came.len() < PREFIX_BYTES {
        return wrong("the five bytes before the message are not there");
    }
    let compressed = came.get_u8();
    let length = came.get_u32() as usize;
    if compressed != 0 {
        return wrong("the message is compressed, or is none: its first byte has to be 0");
    }
    if came.len() != length {
        return wrong("there has to be one message, as long as the bytes before it say");
    }
    Ok(came)
}

#[cfg(test)]
mod tests;
