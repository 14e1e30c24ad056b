//! Messages as bytes, in Protobuf. The generated services name this codec, so that what is read and
//! written passes through here.
//!
//! Bytes that are no message get INTERNAL without details, as all that the transport refuses; the
//! table of failures makes INVALID_ARGUMENT of it (`status::of_transport`).

use std::fmt::Debug;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use prost::bytes::{Buf, BufMut, Bytes};
use prost::{DecodeError, EncodeError, Message, Name};
use tonic::Status;
use tonic::codec::{DecodeBuf, Decoder, EncodeBuf, Encoder};

/// What looks at the bytes of messages before they are decoded, on the side that does not know who
/// sends them. The decoders are made inside the generated services, where nothing can be handed to
/// them, so they find it by [`admitted_by`].
pub trait Admission: Debug + Send + Sync {
    /// The number of the messages of this name; none: they are decoded without a look.
    fn kind_of(&self, name: &str) -> Option<usize>;

    /// Decodes if nothing speaks against it. `decode` is called once, at most.
    fn admit(
        &self,
        kind: Option<usize>,
        bytes: &[u8],
        decode: &mut dyn FnMut() -> Result<(), Status>,
    ) -> Result<(), Status>;
}

tokio::task_local! {
    static ADMISSION: Arc<dyn Admission>;
}

/// Lets this look at all messages that arrive while the call is polled. Without it, as in a client,
/// nothing looks.
pub fn admitted_by<F: Future>(
    admission: Arc<dyn Admission>,
    call: F,
) -> impl Future<Output = F::Output> {
    ADMISSION.scope(admission, call)
}

/// Encodes `T`, decodes `U`.
#[derive(Debug)]
pub struct Codec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for Codec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// A message that a call asks, or is answered with. Each is written and read by functions that are
/// compiled here: code of `prost` is compiled anew by every crate that uses it, for every message
/// in every message.
pub trait WholeMessage: Send + Sized + 'static {
    /// Its name, without that of the package.
    const NAME: &'static str;

    /// How many bytes it is written in.
    fn bytes(&self) -> usize;

    /// Writes it where there is room for it.
    fn write_small(&self, buffer: &mut Vec<u8>);

    /// Writes it into the buffer of the transport, which has room for it.
    fn write(&self, buffer: &mut EncodeBuf<'_>) -> Result<(), EncodeError>;

    /// Reads one; lists of numbers in it stay where they were received.
    fn read(bytes: Bytes) -> Result<Self, DecodeError>;
}

macro_rules! whole_messages {
    ($($message:ident)*) => {
        $(impl WholeMessage for crate::$message {
            const NAME: &'static str = <Self as Name>::NAME;

            #[inline(never)]
            fn bytes(&self) -> usize {
                self.encoded_len()
            }

            #[inline(never)]
            fn write_small(&self, buffer: &mut Vec<u8>) {
                self.encode_raw(buffer);
            }

            #[inline(never)]
            fn write(&self, buffer: &mut EncodeBuf<'_>) -> Result<(), EncodeError> {
                self.encode(buffer)
            }

            #[inline(never)]
            fn read(bytes: Bytes) -> Result<Self, DecodeError> {
                Self::decode(bytes)
            }
        })*
    };
}

// Requests and responses of all services.
include!(concat!(env!("OUT_DIR"), "/whole_messages.rs"));

impl<T: WholeMessage, U: WholeMessage> tonic::codec::Codec for Codec<T, U> {
    type Encode = T;
    type Decode = U;
    type Encoder = Outward<T>;
    type Decoder = Inward<U>;

    fn encoder(&mut self) -> Outward<T> {
        Outward { scratch: Vec::new(), message: PhantomData }
    }

    fn decoder(&mut self) -> Inward<U> {
        let admission = ADMISSION.try_with(Arc::clone).ok();
        let kind = admission.as_ref().and_then(|admission| admission.kind_of(U::NAME));
        Inward { admission, kind, message: PhantomData }
    }
}

/// Encodes.
#[derive(Debug)]
pub struct Outward<T> {
    /// A small message is written here first, and copied as a whole: the buffer of the transport
    /// takes as long for one byte as for many.
    scratch: Vec<u8>,
    message: PhantomData<T>,
}

/// Messages up to this are small.
const SMALL_BYTES: usize = 1 << 10;

impl<T: WholeMessage> Encoder for Outward<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, item: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        let bytes = item.bytes();
        if bytes > SMALL_BYTES {
            // Just as much as it takes: a buffer that grows is twice as large in the end.
            buffer.reserve(bytes);
            return item.write(buffer).map_err(|error| Status::internal(error.to_string()));
        }
        self.scratch.clear();
        self.scratch.reserve_exact(bytes);
        item.write_small(&mut self.scratch);
        buffer.put_slice(&self.scratch);
        Ok(())
    }
}

/// Decodes what its bytes show to be within the limits.
#[derive(Debug)]
pub struct Inward<T> {
    /// None: this is a client.
    admission: Option<Arc<dyn Admission>>,
    kind: Option<usize>,
    message: PhantomData<T>,
}

impl<T: WholeMessage> Decoder for Inward<T> {
    type Item = T;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<T>, Status> {
        // Without copying: what was received lies in one piece, and this is a share of it.
        let bytes = buffer.copy_to_bytes(buffer.remaining());
        let Some(admission) = &self.admission else { return decode(bytes).map(Some) };
        let mut message = None;
        admission.admit(self.kind, &bytes.clone(), &mut || {
            message = Some(decode(bytes.clone())?);
            Ok(())
        })?;
        Ok(message)
    }
}

fn decode<T: WholeMessage>(bytes: Bytes) -> Result<T, Status> {
    T::read(bytes).map_err(|error| Status::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use crate as api;

    /// Replies of 3,648 bytes and requests of 1,784 were moved from hand to hand a dozen times,
    /// which took a fifth of the time of a small frame.
    #[test]
    fn what_comes_and_goes_with_every_frame_is_small() {
        assert!(size_of::<api::StreamSessionRequest>() <= 128);
        assert!(size_of::<api::StreamSessionResponse>() <= 32);
        // Allocations up to this are kept at hand by the allocator when they are freed.
        let at_hand = 1_032;
        assert!(size_of::<api::Frame>() <= at_hand, "{}", size_of::<api::Frame>());
        assert!(size_of::<api::FrameReport>() <= at_hand, "{}", size_of::<api::FrameReport>());
    }
}
