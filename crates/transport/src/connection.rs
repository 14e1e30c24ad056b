//! Connections: counted, without Nagle's delay, and closed if they do not begin to speak.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;
use tokio::time::Sleep;
use tokio_rustls::rustls::pki_types::CertificateDer;

use super::frames::PREFACE_BYTES;
use super::limiter::{ActiveCall, Activity, ConnectionLimiter, ConnectionPermit};
use super::listener::Listener;
use super::socket::Socket;
use super::tls::Tls;
use super::unread::Unread;
use clearance_runtime::client::Client;
use clearance_runtime::memory::{
    CONNECTION_BYTES, MemoryBudget, MemoryKind, MemoryQuota, Reservation,
};

/// After a failure to accept (no file descriptors left, most likely) the next try comes this late.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// What TLS keeps of a connection at most: a record in each direction as it is sent and as it is
/// read (16 KiB and what surrounds it), the certificates of the client, and its own state.
pub(super) const TLS_BYTES: u64 = 96 << 10;

/// After so many bytes without a pause a connection lets the others of its thread have their turns:
/// with 250 that send 4 MiB each, a health check waited for 100 ms.
const TURN_BYTES: usize = 16 << 10;

/// What a new connection still has to say, and until when. Keep-alive pings, which find a client
/// that has gone, begin only after it; without this, a few silent connections would take every
/// permit.
#[derive(Debug)]
struct Handshake {
    bytes_to_come: usize,
    patience: Pin<Box<Sleep>>,
}

/// Who is at the other end of a connection; every request of it has this among its extensions, and
/// `caller.rs` says whose the request is.
#[derive(Clone, Debug)]
pub struct Peer {
    /// From which the memory of the connection is taken.
    pub quota: MemoryQuota,
    /// Whoever asks over it without saying who.
    pub client: Client,
    /// Where they are.
    pub address: IpAddr,
    activity: Arc<Activity>,
}

impl Peer {
    /// This process itself, which calls without a connection: another caller of this machine.
    pub fn inside(memory_budget: &MemoryBudget) -> Self {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let activity = Activity::new(Instant::now());
        let quota = memory_budget.connection(address.ip());
        Self { quota, client: Client::at(address), address: address.ip(), activity }
    }

    /// Whoever is at this address, over a connection whose calls are counted here.
    pub(super) fn over(
        memory_budget: &MemoryBudget,
        address: SocketAddr,
        activity: Arc<Activity>,
    ) -> Self {
        let quota = memory_budget.connection(address.ip());
        Self { quota, client: Client::at(address), address: address.ip(), activity }
    }

    /// A call has begun, and lasts until this is dropped.
    pub(super) fn begin(&self) -> ActiveCall {
        self.activity.begin()
    }

    /// Whether it has no calls.
    pub(super) fn is_idle(&self) -> bool {
        self.activity.is_idle()
    }
}

/// A connection that was let in.
#[derive(Debug)]
pub struct Admitted {
    pub(super) connection: Connection,
    pub(super) peer: Peer,
    /// One of as many as are allowed.
    pub(super) permit: ConnectionPermit,
    pub(super) unread: Unread,
    pub(super) heard: Heard,
    pub(super) _memory: Reservation,
}

/// The bytes of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Socket,
    handshake: Option<Handshake>,
    /// Bytes read in its turn.
    read_in_turn: usize,
    unread: Unread,
    heard: Heard,
}

/// How often something was heard of the client; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Heard(Arc<AtomicU64>);

impl Heard {
    /// How often it has happened.
    pub(super) fn times(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What new connections are held to.
#[derive(Clone, Debug)]
pub struct Admission {
    /// How many there may be.
    pub connections_max: u64,
    /// Until a new one has begun to speak.
    pub handshake: Duration,
    /// Whether they speak TLS, which takes memory of its own.
    pub uses_tls: bool,
    /// Where their memory is counted.
    pub memory_budget: MemoryBudget,
}

/// Accepts connections for as long as somebody takes them. One for which there is no permit, or no
/// memory, is closed at once: its client tries again.
pub async fn accept(listener: Listener, admission: Admission, taker: mpsc::Sender<Admitted>) {
    let limiter = ConnectionLimiter::new(admission.connections_max.max(1));
    loop {
        match listener.accept().await {
            Ok((stream, address)) => {
                let Some(admitted) = admitted(stream, address, &limiter, &admission) else {
                    continue;
                };
                if taker.send(admitted).await.is_err() {
                    break;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                limiter.make_room();
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

fn admitted(
    stream: Socket,
    address: SocketAddr,
    limiter: &ConnectionLimiter,
    admission: &Admission,
) -> Option<Admitted> {
    let permit = limiter.take(address.ip())?;
    let quota = admission.memory_budget.connection(address.ip());
    let of_tls = if admission.uses_tls { TLS_BYTES } else { 0 };
    let memory = quota.reserve(MemoryKind::Calls, CONNECTION_BYTES + of_tls).ok()?;
    let patience = Box::pin(tokio::time::sleep(admission.handshake));
    let handshake = Some(Handshake { bytes_to_come: PREFACE_BYTES, patience });
    let client = Client::at(address);
    let (unread, heard) = (Unread::new(quota.clone()), Heard::default());
    let (address, activity) = (address.ip(), permit.activity.clone());
    let peer = Peer { quota, client, address, activity };
    let (of_stream, in_stream) = (unread.clone(), heard.clone());
    let connection =
        Connection { stream, handshake, read_in_turn: 0, unread: of_stream, heard: in_stream };
    Some(Admitted { connection, peer, permit, unread, heard, _memory: memory })
}

impl Connection {
    /// Whether it begins as HTTP/1 does. Nothing is taken from it, and who is silent is waited for
    /// no longer than for the rest of the preface.
    pub(super) async fn speaks_http1(&mut self) -> bool {
        let Self { stream: Socket::Plain(stream), handshake: Some(handshake), .. } = self else {
            return false;
        };
        let patience = &mut handshake.patience;
        // Of the methods of HTTP/1 none begins as the preface of HTTP/2 does: that one is PRI.
        let mut head = [0; 3];
        let peeked = tokio::select! {
            peeked = stream.peek(&mut head) => peeked,
            () = patience.as_mut() => return false,
        };
        let head = peeked.map_or(&[][..], |count| &head[..count]);
        !b"PRI".starts_with(head) && head.iter().all(u8::is_ascii_uppercase)
    }

    /// The same connection, once its client and the server have agreed on keys; none: they have
    /// not, or the client took too long.
    pub(super) async fn secured(self, tls: &Tls) -> Option<Self> {
        let Self { stream: Socket::Plain(stream), handshake: Some(mut handshake), .. } = self
        else {
            return None;
        };
        let greeted = tokio::select! {
            greeted = tls.greet(stream) => greeted,
            () = handshake.patience.as_mut() => return None,
        };
        let stream = match greeted {
            Ok(stream) => Socket::Secured(Box::new(stream)),
            Err(problem) => {
                tracing::debug!(%problem, "no TLS was agreed on");
                return None;
            }
        };
        let Self { read_in_turn, unread, heard, .. } = self;
        Some(Self { stream, handshake: Some(handshake), read_in_turn, unread, heard })
    }

    /// The certificates that the client has shown.
    pub(super) fn shown(&self) -> Vec<CertificateDer<'static>> {
        self.stream.shown()
    }

    /// The bytes themselves, past what is counted of HTTP/2.
    pub(super) fn bytes(&mut self) -> &mut Socket {
        &mut self.stream
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
        let came = buffer.filled().len() - before;
        if came > 0 {
            self.heard.0.fetch_add(1, Ordering::Relaxed);
            self.unread.came(&buffer.filled()[before..]);
        }
        self.read_in_turn = if read.is_pending() { 0 } else { self.read_in_turn + came };
        let Some(handshake) = &mut self.handshake else { return read };
        handshake.bytes_to_come = handshake.bytes_to_come.saturating_sub(came);
        if handshake.bytes_to_come == 0 {
            self.handshake = None;
        } else if read.is_pending() && handshake.patience.as_mut().poll(context).is_ready() {
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
