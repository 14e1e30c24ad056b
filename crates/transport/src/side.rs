//! The side port: pages for operators and calls over HTTP/1.1, on a thread of its own. However busy
//! the others are, whoever asks whether the server lives is told.
//!
//! What is said there is within TLS where the server has a certificate and the client begins so;
//! calls without it are answered only where nobody can listen in.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, ALLOW, CONNECTION, CONTENT_ENCODING, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::connection::{Peer, TLS_BYTES};
use super::limiter::{ConnectionLimiter, ConnectionPermit};
use super::tls::Tls;
use super::web::{ReplyBody, Web, content};
use clearance_runtime::latch::Latch;
use clearance_runtime::memory::{CONNECTION_BYTES, MemoryBudget, MemoryKind};

/// A connection that asks nothing for so long is closed.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// Until a client that speaks TLS has agreed on keys, or another has begun to speak.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// Bytes of a request's headers.
const HEADER_BYTES_MAX: usize = 16 << 10;

/// After a failure to accept the next try comes this late.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// When the server ends, what has been answered has so long to be sent.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What TLS begins with: a record of a handshake (RFC 8446, section 5.1).
const TLS_HANDSHAKE: u8 = 22;

const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// What is shown at a path.
#[derive(Clone, Debug)]
pub struct ShownPage {
    /// The status.
    pub status: StatusCode,
    /// What the text is.
    pub content_type: &'static str,
    /// The text.
    pub text: Vec<u8>,
    /// Whether it is packed by gzip, as every browser takes it.
    pub is_packed: bool,
}

/// Whoever knows the pages and writes them when they are asked for.
pub trait Pages: Send + Sync {
    /// The page at a path, for whoever accepts these kinds of text (RFC 9110, section 12.5.1).
    fn page(&self, path: &str, accept: &str) -> ShownPage;
}

/// What the side port is made of.
pub struct SidePort {
    /// The pages.
    pub pages: Arc<dyn Pages>,
    /// The door that answers calls.
    pub web: Web,
    /// Whether calls are answered without TLS.
    pub takes_plain_calls: bool,
    /// What a client may begin with; none: TLS is not spoken.
    pub tls: Option<Tls>,
    /// How many connections there may be.
    pub connections_max: u64,
    /// Where their memory is counted.
    pub memory_budget: MemoryBudget,
}

/// Serves until the latch is set, on a thread of its own. What is returned is over when all that
/// was answered by then has been sent, or half a second later.
pub fn show(
    listener: TcpListener,
    side_port: SidePort,
    over: Latch,
) -> io::Result<oneshot::Receiver<()>> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let thread = std::thread::Builder::new().name("side-port".to_owned());
    let (ended, until_ended) = oneshot::channel();
    thread.spawn(move || {
        runtime.block_on(accept(listener, Arc::new(side_port), over));
        // Nobody may wait for it.
        let _ = ended.send(());
    })?;
    Ok(until_ended)
}

async fn accept(listener: TcpListener, side_port: Arc<SidePort>, over: Latch) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the side port cannot be listened on"),
    };
    let limiter = ConnectionLimiter::new(side_port.connections_max.max(1));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            () = over.clone().until_set() => break,
        };
        match accepted {
            Ok((stream, address)) => {
                // One for which there is no permit is closed at once: its client tries again.
                let Some(permit) = limiter.take(address.ip()) else { continue };
                // A connection that refuses the option still works.
                let _ = stream.set_nodelay(true);
                connections.spawn(side_port.clone().serve(stream, address, permit, over.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection on the side port");
                limiter.make_room();
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    // What takes longer is cut off.
    let _ = tokio::time::timeout(LAST_WORDS, all).await;
}

impl SidePort {
    async fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        address: SocketAddr,
        mut permit: ConnectionPermit,
        over: Latch,
    ) {
        let activity = permit.activity.clone();
        let peer = Peer::over(&self.memory_budget, address, activity);
        let leaving = permit.has_to_leave();
        let serving = async {
            let begun = tokio::time::timeout(HANDSHAKE_MAX, begins_with_tls(&stream));
            let begun = tokio::select! {
                begun = begun => begun,
                () = over.clone().until_set() => return,
            };
            let Ok(Some(is_tls)) = begun else { return };
            // As many as there are have room: a page is shown whatever else is held.
            let of_tls = if is_tls { TLS_BYTES } else { 0 };
            let _memory = peer.quota.hold(MemoryKind::Calls, CONNECTION_BYTES + of_tls);
            match self.tls.clone().filter(|_| is_tls) {
                Some(tls) => self.serve_within(tls, stream, peer, over).await,
                None => self.speak(stream, peer, false, over).await,
            }
        };
        tokio::select! {
            () = serving => {}
            () = leaving => {}
        }
    }

    async fn serve_within(self: &Arc<Self>, tls: Tls, stream: TcpStream, peer: Peer, over: Latch) {
        let greeted = tokio::time::timeout(HANDSHAKE_MAX, tls.greet_http1(stream)).await;
        let Ok(Ok(stream)) = greeted else { return };
        let shown = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let shown = shown.iter().cloned().map(|one| one.into_owned()).collect();
        tokio::select! {
            () = self.speak(stream, peer, true, over) => {}
            () = tls.until_refused(shown) => {}
        }
    }

    /// Answers what is asked over a connection, until it is over, or the server is: then what is
    /// being answered is sent to its end.
    async fn speak<S>(self: &Arc<Self>, stream: S, peer: Peer, is_secured: bool, over: Latch)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let answer = service_fn(move |request| {
            let (side_port, peer) = (self.clone(), peer.clone());
            async move { Ok::<_, Infallible>(side_port.answer(request, peer, is_secured).await) }
        });
        let mut http1 = http1::Builder::new();
        http1.timer(TokioTimer::new()).header_read_timeout(IDLE_MAX);
        http1.max_buf_size(HEADER_BYTES_MAX);
        let mut connection = pin!(http1.serve_connection(TokioIo::new(stream), answer));
        // Whoever asks wrongly has had its chance.
        tokio::select! {
            _ = connection.as_mut() => return,
            () = over.until_set() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        peer: Peer,
        is_secured: bool,
    ) -> Response<ReplyBody> {
        if Web::is_method(request.uri().path()) {
            if !is_secured && !self.takes_plain_calls {
                return content(StatusCode::FORBIDDEN, TEXT, ReplyBody::whole(NEEDS_TLS.into()));
            }
            return self.web.answer(request, peer).await;
        }
        let mut response = self.page(&request);
        // Whoever looks at pages is seldom back within a minute.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }

    fn page(&self, request: &Request<Incoming>) -> Response<ReplyBody> {
        if ![Method::GET, Method::HEAD].contains(request.method()) {
            let mut response = Response::new(ReplyBody::Whole(None));
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
        let page = self.pages.page(request.uri().path(), accept.unwrap_or_default());
        let content_type = HeaderValue::from_static(page.content_type);
        let mut response = content(page.status, content_type, ReplyBody::whole(page.text.into()));
        if page.is_packed {
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

const NEEDS_TLS: &str = "\
Calls are answered here within TLS only (tls_cert and tls_key), or where the side port listens on \
the loopback interface and clients need no certificate, or where the server is told to be insecure.
";

/// Whether a connection begins as TLS does; none: it is over before it has begun. Nothing is taken
/// from it.
async fn begins_with_tls(stream: &TcpStream) -> Option<bool> {
    let mut first = [0];
    match stream.peek(&mut first).await {
        Ok(1) => Some(first[0] == TLS_HANDSHAKE),
        Ok(_) | Err(_) => None,
    }
}
