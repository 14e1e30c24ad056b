//! Streams of raw bytes, so that what the client does is the same for every server.

use std::time::Duration;

use prost::bytes::{Buf, BufMut, Bytes};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status, Streaming};

/// Messages as the bytes that they are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// The longest message that the benches send or receive.
const BYTES_MAX: usize = 1 << 30;

/// A connection of its own.
pub(crate) async fn connect(port: u16) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://127.0.0.1:{port}"));
    let endpoint = endpoint.expect("an address").tcp_nodelay(true);
    for _ in 0..200 {
        if let Ok(channel) = endpoint.connect().await {
            return channel;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no server answers on port {port}");
}

/// A stream in both directions.
pub(crate) struct Talk {
    requests: mpsc::Sender<Bytes>,
    replies: Streaming<Bytes>,
}

impl Talk {
    /// Opens the stream with its first message.
    pub(crate) async fn begin(channel: Channel, method: &'static str, first: Bytes) -> Self {
        let mut client = tonic::client::Grpc::new(channel)
            .max_decoding_message_size(BYTES_MAX)
            .max_encoding_message_size(BYTES_MAX);
        let (requests, receiver) = mpsc::channel(64);
        requests.send(first).await.expect("somebody reads");
        client.ready().await.expect("connected");
        let request = Request::new(ReceiverStream::new(receiver));
        let path = PathAndQuery::from_static(method);
        let replies = client.streaming(request, path, Raw).await.expect("a stream").into_inner();
        Self { requests, replies }
    }

    /// Sends a message.
    pub(crate) async fn send(&self, message: Bytes) {
        self.requests.send(message).await.expect("the stream is open");
    }

    /// The next reply.
    pub(crate) async fn receive(&mut self) -> Bytes {
        self.replies.message().await.expect("a reply").expect("the stream is open")
    }
}
