//! Protobuf as usual, except that bytes which are no message of the expected type are the client's
//! mistake: INVALID_ARGUMENT, where the default codec says INTERNAL.

use std::marker::PhantomData;

use prost::Message;
use tonic::Status;
use tonic::codec::{DecodeBuf, Decoder, EncodeBuf, Encoder};

use crate::rpc::status::Failure;

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
        item.encode(buffer).map_err(|error| Failure::Bug(error.to_string()).into())
    }
}

impl<T: Message + Default> Decoder for Half<T> {
    type Item = T;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<T>, Status> {
        let message = T::decode(buffer).map_err(|error| Failure::Malformed(error.to_string()))?;
        Ok(Some(message))
    }
}
