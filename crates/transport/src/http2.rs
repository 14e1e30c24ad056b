//! A connection from its first byte to its last: its windows, its calls, and how it ends.
//!
//! A stream may have [`WINDOW_BYTES`] under way that nobody reads, and the connection has room for
//! that of every stream it may have. So however many streams stall, the others go on (RFC 9113,
//! section 5.2.2, is about the opposite: windows of the connection that streams fill). What waits
//! is counted in `unread.rs`.
//!
//! A connection that has to leave is told so (GOAWAY): the client knows which of its calls were not
//! begun, and sends them over another one.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use h2::server::{Builder, Connection as Http2};
use h2::{Ping, PingPong, Reason};
use prost::bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tonic::service::Routes;

use super::call::Exchange;
use super::connection::{Admitted, Connection, Heard, Peer};
use super::http1::decline;
use super::layer::Surrounded;
use super::tls::Tls;
use super::unread::Unread;
use clearance_runtime::clock::until_of_age;
use clearance_runtime::latch::Stopping;
use clearance_runtime::settings::Limits;

/// What a client may send on one stream before somebody reads it: a message of a megabyte needs no
/// second way of its permission over a slow network.
const WINDOW_BYTES: u32 = 1 << 20;

/// The largest window that there is (RFC 9113, section 6.9.1).
const WINDOW_BYTES_MAX: u32 = (1 << 31) - 1;

/// What the transport keeps of one stream's reply until the socket takes it.
const SEND_BUFFER_BYTES: usize = 64 << 10;

/// Streams that the transport resets for errors of their client before it closes the connection.
const ERROR_RESETS_MAX: usize = 1_024;

/// Streams that were reset lately and are remembered, and for how long: of a message that is
/// refused for its length a window may be under way still, over a slow network for seconds. Frames
/// for a stream that was forgotten count as errors of the client, so these are more than an honest
/// one is refused in that time. They are part of
/// [`CONNECTION_BYTES`](clearance_runtime::memory::CONNECTION_BYTES).
const RESETS_REMEMBERED_MAX: usize = 96;
const RESETS_REMEMBERED_FOR: Duration = Duration::from_secs(5);

/// What a connection may take to be told that it is over. It has given up its permit before, and
/// has its descriptor until then.
const FAREWELL: Duration = Duration::from_millis(250);

/// Between two looks whether a connection that drains has calls left: a client that does not
/// answer would be waited for otherwise.
const DRAIN_INTERVAL: Duration = Duration::from_millis(100);

/// What connections are held to.
#[derive(Clone, Debug)]
pub struct ConnectionSettings {
    builder: Builder,
    /// Between two pings to a silent client; none: there are none.
    keepalive: Option<Duration>,
    /// Until a ping has to be answered.
    patience: Duration,
    /// How near the server is to its end.
    stopping: Stopping,
    /// After so long, give or take, a connection is told to leave; none: never.
    age_max: Option<Duration>,
    /// Within which everything is said; none: nothing is.
    tls: Option<Tls>,
}

impl ConnectionSettings {
    /// As the limits say.
    pub fn new(limits: &Limits, stopping: Stopping, tls: Option<Tls>) -> Self {
        let small = |limit: u64| u32::try_from(limit).unwrap_or(u32::MAX);
        let streams_max = small(limits.streams_per_connection_max);
        // One window more: frames of streams that are over count until the transport has seen them.
        let windows = streams_max.saturating_add(1);
        let of_stream = WINDOW_BYTES.min(WINDOW_BYTES_MAX / windows);
        let mut builder = Builder::new();
        builder
            .initial_window_size(of_stream)
            .initial_connection_window_size(of_stream * windows)
            .max_concurrent_streams(streams_max)
            .max_send_buffer_size(SEND_BUFFER_BYTES)
            .max_local_error_reset_streams(Some(ERROR_RESETS_MAX))
            .max_concurrent_reset_streams(RESETS_REMEMBERED_MAX)
            .reset_stream_duration(RESETS_REMEMBERED_FOR)
            // A client that gives up all its calls at once is no attacker and keeps its connection.
            .max_pending_accept_reset_streams(streams_max as usize)
            // HTTP/2 itself would answer 431, which says nothing to gRPC: up to this the layer
            // refuses.
            .max_header_list_size(small(limits.header_bytes_max.saturating_mul(4)));
        let keepalive = Duration::from_secs(limits.keepalive_seconds);
        Self {
            builder,
            keepalive: Some(keepalive).filter(|interval| !interval.is_zero()),
            patience: Duration::from_secs(limits.keepalive_timeout_seconds),
            stopping,
            age_max: limits.age_max(),
            tls,
        }
    }
}

/// What answers calls: all services with their surroundings. One type that is known here, so that
/// the whole of a connection is compiled here, too, and not again with each change of a service.
pub type AllServices = Surrounded<Routes>;

/// Serves connections as they come, until nobody lets any in any more and all have ended.
pub fn serve_all(
    admitted: mpsc::Receiver<Admitted>,
    services: AllServices,
    connection_settings: ConnectionSettings,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    // Whoever polls a future that is in no box compiles all of it.
    Box::pin(serve_each(admitted, services, connection_settings))
}

async fn serve_each(
    mut admitted: mpsc::Receiver<Admitted>,
    services: AllServices,
    connection_settings: ConnectionSettings,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            one = admitted.recv() => {
                let Some(one) = one else { break };
                let open = CountedConnection::count(&services);
                let serving = serve(one, services.clone(), connection_settings.clone());
                connections.spawn(async move {
                    serving.await;
                    drop(open);
                });
            }
            Some(_ended) = connections.join_next() => {}
        }
    }
    while connections.join_next().await.is_some() {}
}

/// Counted among the connections while it lives.
struct CountedConnection(AllServices);

impl CountedConnection {
    fn count(services: &AllServices) -> Self {
        services.metrics().by_call.connections.inc();
        Self(services.clone())
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.0.metrics().by_call.connections.dec();
    }
}

/// Why a connection is not served any more.
enum Over {
    /// It has ended, or failed.
    Ended,
    /// It has to end now: the reason is told.
    Leaves(Reason),
    /// Another connection gets its permit: calls that are under way are answered still.
    GivesWay,
}

async fn serve(admitted: Admitted, services: AllServices, connection_settings: ConnectionSettings) {
    let Admitted { mut connection, peer, mut permit, unread, heard, _memory } = admitted;
    let Stopping { draining, .. } = connection_settings.stopping.clone();
    let leaving = permit.has_to_leave();
    tokio::pin!(leaving);
    let speaks_http1 = tokio::select! {
        speaks = connection.speaks_http1() => speaks,
        () = draining.clone().until_set() => return,
        () = &mut leaving => return,
    };
    if speaks_http1 {
        return decline(connection, connection_settings.tls.is_some()).await;
    }
    let secured = tokio::select! {
        secured = secured(connection, connection_settings.tls.clone()) => secured,
        () = draining.clone().until_set() => return,
        () = &mut leaving => return,
    };
    let Some((connection, refused)) = secured else { return };
    let greeted = tokio::select! {
        greeted = connection_settings.builder.handshake::<_, Bytes>(connection) => greeted,
        // Whoever has said nothing yet is owed no farewell.
        () = draining.until_set() => return,
        () = &mut leaving => return,
    };
    let Ok(mut http2) = greeted else { return };
    let pings = http2.ping_pong().expect("taken once");
    let calls = CallService {
        services,
        peer,
        unread: unread.clone(),
        stopping: connection_settings.stopping.clone(),
        age_max: connection_settings.age_max,
    };
    let alive = keep_alive(pings, heard, &connection_settings);
    let over = tokio::select! {
        biased;
        over = calls.serve_calls(&mut http2, false) => over,
        () = std::future::poll_fn(|context| unread.poll_beyond(context)) => {
            Over::Leaves(Reason::ENHANCE_YOUR_CALM)
        }
        () = leaving => Over::GivesWay,
        () = refused => Over::Leaves(Reason::NO_ERROR),
        () = alive => Over::Leaves(Reason::NO_ERROR),
    };
    let over = match over {
        Over::GivesWay => {
            http2.graceful_shutdown();
            calls.serve_calls(&mut http2, true).await
        }
        over @ (Over::Ended | Over::Leaves(_)) => over,
    };
    if let Over::Leaves(reason) = over {
        http2.abrupt_shutdown(reason);
        let closed = std::future::poll_fn(|context| http2.poll_closed(context));
        // Whoever does not take the farewell goes without.
        let _ = tokio::time::timeout(FAREWELL, closed).await;
    }
}

/// Waits until a client would be let in no more.
type Refused = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The connection as TLS has it, where TLS is spoken.
async fn secured(connection: Connection, tls: Option<Tls>) -> Option<(Connection, Refused)> {
    let Some(tls) = tls else { return Some((connection, Box::pin(std::future::pending()))) };
    let connection = connection.secured(&tls).await?;
    let shown = connection.shown();
    Some((connection, Box::pin(tls.until_refused(shown))))
}

/// What the calls of one connection need.
struct CallService {
    services: AllServices,
    peer: Peer,
    unread: Unread,
    stopping: Stopping,
    age_max: Option<Duration>,
}

impl CallService {
    /// Takes calls until the client hangs up, or all have ended of a connection that drains: alone,
    /// for its age, or with the server.
    async fn serve_calls(&self, http2: &mut Http2<Connection, Bytes>, mut drains: bool) -> Over {
        let Self { services, peer, unread, stopping, age_max } = self;
        let mut old = std::pin::pin!(until_of_age(*age_max));
        let mut begin_draining = std::pin::pin!(stopping.draining.clone().until_set());
        loop {
            tokio::select! {
                biased;
                accepted = http2.accept() => {
                    let Some(Ok((request, respond))) = accepted else { return Over::Ended };
                    let call = Exchange::new(request, respond, unread);
                    tokio::spawn(call.answer(services.clone(), peer.clone(), stopping.clone()));
                }
                () = &mut begin_draining, if !drains => {
                    drains = true;
                    http2.graceful_shutdown();
                }
                () = &mut old, if !drains => {
                    drains = true;
                    http2.graceful_shutdown();
                }
                () = tokio::time::sleep(DRAIN_INTERVAL), if drains => {
                    if peer.is_idle() && !http2.has_streams() {
                        return Over::Leaves(Reason::NO_ERROR);
                    }
                }
            }
        }
    }
}

/// Ends when a client that is silent does not answer either.
async fn keep_alive(mut pings: PingPong, heard: Heard, connection_settings: &ConnectionSettings) {
    let Some(interval) = connection_settings.keepalive else { return std::future::pending().await };
    loop {
        let before = heard.times();
        tokio::time::sleep(interval).await;
        if heard.times() != before {
            continue;
        }
        let ping = pings.ping(Ping::opaque());
        if !matches!(tokio::time::timeout(connection_settings.patience, ping).await, Ok(Ok(_))) {
            return;
        }
    }
}
