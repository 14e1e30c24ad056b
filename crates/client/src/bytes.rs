//! Calls as bytes, for whoever brings messages of another language's: they are sent and handed on
//! as they are.

use std::time::Duration;

use prost::bytes::{Buf, BufMut, Bytes};
use tokio::time::Instant;
use tokio_stream::Stream;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Request, Status, Streaming};

use crate::connection::Client;
use crate::credentials::KeyedChannel;
use crate::error::Error;

/// Messages that stay bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Plain;

impl Codec for Plain {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for Plain {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(item.len());
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for Plain {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

impl Client {
    /// Calls a method with one message in each direction, as its URI names it
    /// (`/clearance.v1.ServerService/GetServerInfo`), and tries again where the contract says that
    /// this helps. `time` is for all attempts together. What is registered so is registered again
    /// where a session is opened on a server without it.
    pub async fn call_bytes(
        &self,
        method: &str,
        request: Bytes,
        time: Option<Duration>,
    ) -> Result<Bytes, Error> {
        let path = path_of(method)?;
        let over = time.and_then(|time| Instant::now().checked_add(time));
        let ask = async || {
            let mut grpc = self.plain();
            grpc.ready().await.map_err(|error| Status::from_error(error.into()))?;
            let mut request = Request::new(request.clone());
            if let Some(over) = over {
                request.set_timeout(over.saturating_duration_since(Instant::now()));
            }
            Ok(grpc.unary(request, path.clone(), Plain).await?.into_inner())
        };
        let asked = self.retried(ask);
        let reply = match over {
            None => asked.await,
            Some(over) => match tokio::time::timeout_at(over, asked).await {
                Ok(answer) => answer,
                Err(_) => Err(Status::deadline_exceeded("the time for the call is over").into()),
            },
        }?;
        self.took_bytes(method, request, &reply)?;
        Ok(reply)
    }

    /// Calls a method with any number of messages in either direction; nothing is tried again.
    pub async fn stream_bytes(
        &self,
        method: &str,
        requests: impl Stream<Item = Bytes> + Send + 'static,
        time: Option<Duration>,
    ) -> Result<Streaming<Bytes>, Error> {
        let path = path_of(method)?;
        let mut grpc = self.plain();
        grpc.ready().await.map_err(|error| Status::from_error(error.into()))?;
        let mut request = Request::new(requests);
        if let Some(time) = time {
            request.set_timeout(time);
        }
        Ok(grpc.streaming(request, path, Plain).await?.into_inner())
    }

    fn plain(&self) -> Grpc<KeyedChannel> {
        let bytes = self.options().message_bytes_max;
        Grpc::new(self.channel()).max_encoding_message_size(bytes).max_decoding_message_size(bytes)
    }
}

fn path_of(method: &str) -> Result<PathAndQuery, Error> {
    let path = PathAndQuery::try_from(method).ok();
    path.filter(|path| path.as_str() == method && method.starts_with('/'))
        .ok_or_else(|| Error::Address(format!("{method:?} is no method")))
}
