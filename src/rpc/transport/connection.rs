//! Connections: counted, without Nagle's delay, and closed if they do not begin to speak.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Sleep;
use tonic::transport::server::{Connected, TcpConnectInfo};

/// After a failure to accept (no file descriptors left, most likely) the next try comes this late.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Every HTTP/2 connection begins with so many bytes of the client (RFC 9113, section 3.4).
const PREFACE_BYTES: usize = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len();

/// What a new connection still has to say, and until when. Keep-alive pings, which find a client
/// that has gone, begin only after it; without this, a few silent connections would take every
/// place.
#[derive(Debug)]
struct Greeting {
    bytes_to_come: usize,
    patience: Pin<Box<Sleep>>,
}

/// A connection and its place among those allowed.
#[derive(Debug)]
pub(in crate::rpc) struct Connection {
    stream: TcpStream,
    greeting: Option<Greeting>,
    _place: OwnedSemaphorePermit,
}

/// Accepts connections for as long as somebody takes them; beyond `connections_max` they wait.
pub(in crate::rpc) async fn accept(
    listener: TcpListener,
    connections_max: usize,
    handshake: Duration,
    taker: mpsc::Sender<io::Result<Connection>>,
) {
    let places = Arc::new(Semaphore::new(connections_max.clamp(1, Semaphore::MAX_PERMITS)));
    while let Ok(place) = places.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                // A connection that refuses the option still works.
                let _ = stream.set_nodelay(true);
                let patience = Box::pin(tokio::time::sleep(handshake));
                let greeting = Some(Greeting { bytes_to_come: PREFACE_BYTES, patience });
                if taker.send(Ok(Connection { stream, greeting, _place: place })).await.is_err() {
                    break;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

impl Connected for Connection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let Some(greeting) = &mut self.greeting else { return read };
        let came = buffer.filled().len() - before;
        greeting.bytes_to_come = greeting.bytes_to_come.saturating_sub(came);
        if greeting.bytes_to_come == 0 {
            self.greeting = None;
        } else if read.is_pending() && greeting.patience.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
