//! Messages as bytes, in Protobuf. The generated services name this codec, so that what is read and
//! written passes through here.
//!
//! Bytes that are no message get INTERNAL without details, as all that the transport refuses; the
//! table of failures makes INVALID_ARGUMENT of it (`status::of_transport`).

use std::marker::PhantomData;

use prost::Message;
use tonic::Status;
use tonic::codec::{DecodeBuf, Decoder, EncodeBuf, Encoder};

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
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = Half<T>;
    type Decoder = Half<U>;

    fn encoder(&mut self) -> Half<T> {
        Half(PhantomData)
    }

    fn decoder(&mut self) -> Half<U> {
        Half(PhantomData)
    }
}

/// One direction of [`Codec`].
#[derive(Debug)]
pub struct Half<T>(PhantomData<T>);

impl<T: Message> Encoder for Half<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, item: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }
}

impl<T: Message + Default> Decoder for Half<T> {
    type Item = T;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<T>, Status> {
        let message = T::decode(buffer).map_err(|error| Status::internal(error.to_string()))?;
        Ok(Some(message))
    }
}
