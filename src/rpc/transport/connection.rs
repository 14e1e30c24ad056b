//! Connections: counted, without Nagle's delay, and closed if they do not begin to speak, or when
//! others need their places and they have no calls.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::Sleep;
use tonic::transport::server::Connected;

use super::crowd::{Busy, Doings, Place, Places};
use crate::runtime::client::Client;
use crate::runtime::memory::{Account, CONNECTION_BYTES, MemoryKind, Purse, Reservation};

/// After a failure to accept (no file descriptors left, most likely) the next try comes this late.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// Every HTTP/2 connection begins with so many bytes of the client (RFC 9113, section 3.4).
const PREFACE_BYTES: usize = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len();

/// After so many bytes without a pause a connection lets the others of its thread have their turns:
/// with 250 that send 4 MiB each, a health check waited for 100 ms.
const TURN_BYTES: usize = 16 << 10;

/// What a new connection still has to say, and until when. Keep-alive pings, which find a client
/// that has gone, begin only after it; without this, a few silent connections would take every
/// place.
#[derive(Debug)]
struct Greeting {
    bytes_to_come: usize,
    patience: Pin<Box<Sleep>>,
}

/// Who is at the other end of a connection; every request of it has this among its extensions.
#[derive(Clone, Debug)]
pub(in crate::rpc) struct Peer {
    /// From which the memory of its calls is taken.
    pub(in crate::rpc) purse: Purse,
    /// Whose turn in the pool its calls await.
    pub(in crate::rpc) client: Client,
    doings: Arc<Doings>,
}

impl Peer {
    /// A call has begun, and lasts until this is dropped.
    pub(super) fn begin(&self) -> Busy {
        self.doings.begin()
    }
}

/// A connection and its place among those allowed.
#[derive(Debug)]
pub(in crate::rpc) struct Connection {
    stream: TcpStream,
    greeting: Option<Greeting>,
    /// Bytes read in its turn.
    read_in_turn: usize,
    peer: Peer,
    _memory: Reservation,
    place: Place,
}

/// What new connections are held to.
#[derive(Clone, Debug)]
pub(in crate::rpc) struct Admission {
    /// How many there may be.
    pub(in crate::rpc) connections_max: u64,
    /// Until a new one has begun to speak.
    pub(in crate::rpc) handshake: Duration,
    /// Where their memory is counted.
    pub(in crate::rpc) account: Account,
}

/// Accepts connections for as long as somebody takes them. One for which there is no place, or no
/// memory, is closed at once: its client tries again.
pub(in crate::rpc) async fn accept(
    listener: TcpListener,
    admission: Admission,
    taker: mpsc::Sender<io::Result<Connection>>,
) {
    let places = Places::new(admission.connections_max.max(1));
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                let Some(connection) = admitted(stream, address, &places, &admission) else {
                    continue;
                };
                if taker.send(Ok(connection)).await.is_err() {
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

fn admitted(
    stream: TcpStream,
    address: SocketAddr,
    places: &Places,
    admission: &Admission,
) -> Option<Connection> {
    let place = places.take(address.ip())?;
    let purse = admission.account.connection(address.ip());
    let memory = purse.reserve(MemoryKind::Calls, CONNECTION_BYTES).ok()?;
    // A connection that refuses the option still works.
    let _ = stream.set_nodelay(true);
    let patience = Box::pin(tokio::time::sleep(admission.handshake));
    let greeting = Some(Greeting { bytes_to_come: PREFACE_BYTES, patience });
    let client = Client::at(address);
    let peer = Peer { purse, client, doings: place.doings.clone() };
    Some(Connection { stream, greeting, read_in_turn: 0, peer, _memory: memory, place })
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read_in_turn >= TURN_BYTES {
            self.read_in_turn = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending() {
            let has_to_leave = match &mut self.place.eviction {
                Some(eviction) => Pin::new(eviction).poll(context).is_ready(),
                None => true,
            };
            if has_to_leave {
                self.place.eviction = None;
                return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
            }
        }
        let came = buffer.filled().len() - before;
        self.read_in_turn = if read.is_pending() { 0 } else { self.read_in_turn + came };
        let Some(greeting) = &mut self.greeting else { return read };
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
