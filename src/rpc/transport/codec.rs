//! Messages as bytes, in Protobuf. The generated services name this codec, so that what is read and
//! written passes through here.
//!
//! Bytes that are no message get INTERNAL without details, as all that the transport refuses; the
//! table of failures makes INVALID_ARGUMENT of it (`status::of_transport`).

use std::marker::PhantomData;

use prost::bytes::Buf;
use prost::{Message, Name};
use tonic::Status;
use tonic::codec::{DecodeBuf, Decoder, EncodeBuf, Encoder};

use super::intake::Intake;

/// Encodes `T`, decodes `U`.
#[derive(Debug)]
pub struct Codec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for Codec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> tonic::codec::Codec for Codec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Name + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = Outward<T>;
    type Decoder = Inward<U>;

    fn encoder(&mut self) -> Outward<T> {
        Outward(PhantomData)
    }

    fn decoder(&mut self) -> Inward<U> {
        Inward { intake: Intake::current(), message: PhantomData }
    }
}

/// Encodes.
#[derive(Debug)]
pub struct Outward<T>(PhantomData<T>);

impl<T: Message> Encoder for Outward<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, item: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }
}

/// Decodes what its bytes show to be within the limits.
#[derive(Debug)]
pub struct Inward<T> {
    /// None: this is a client.
    intake: Option<Intake>,
    message: PhantomData<T>,
}

impl<T: Message + Name + Default> Decoder for Inward<T> {
    type Item = T;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<T>, Status> {
        let message = match &self.intake {
            None => decode(&mut *buffer)?,
            Some(intake) => {
                // Without copying: what was received lies in one piece, and this is a share of it.
                let bytes = buffer.copy_to_bytes(buffer.remaining());
                intake.decode(&bytes.clone(), || decode(bytes))?
            }
        };
        Ok(Some(message))
    }
}

fn decode<T: Message + Default>(bytes: impl Buf) -> Result<T, Status> {
    T::decode(bytes).map_err(|error| Status::internal(error.to_string()))
}
