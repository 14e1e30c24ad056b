//! The server, put together: listener and shutdown are passed in, so that tests bind port 0.

use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tower::Layer;

use crate::rpc::pages;
use crate::rpc::protection::{Protection, ProtectionError};
use crate::rpc::routes::{interface, services};
use crate::rpc::services::robots;
use crate::rpc::services::sessions::{SessionHost, sweep};
use crate::rpc::shared::Shared;
use crate::rpc::spans::{self, SpansError};
use clearance_runtime::archive;
use clearance_runtime::archive::keeper::Keeper;
use clearance_runtime::fresh::keep_fresh;
use clearance_runtime::latch::{Latch, Stopping};
use clearance_runtime::memory::tidy;
use clearance_runtime::settings::Settings;
use clearance_transport::connection::{Admission, Admitted, accept};
use clearance_transport::http2::{AllServices, ConnectionSettings, serve_all};
use clearance_transport::listener::Listener;
use clearance_transport::side::{self, SidePort};
use clearance_transport::web::{Web, WebParts};

/// Why the server ended, or could not begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The compute pool could not be made.
    #[error("cannot start the compute pool: {0}")]
    Pool(#[from] rayon::ThreadPoolBuildError),
    /// Strangers are not kept out as the settings say, or not at all.
    #[error(transparent)]
    Protection(#[from] ProtectionError),
    /// The address that was bound is not told.
    #[error("cannot tell where the server listens: {0}")]
    Address(#[from] std::io::Error),
    /// The side port cannot be listened on.
    #[error("http: cannot listen on {address}: {error}")]
    SidePort {
        /// The address that was asked for.
        address: String,
        /// What the system says about it.
        error: std::io::Error,
    },
    /// What was registered before cannot be read.
    #[error("store: {0}")]
    Store(String),
    /// Spans cannot be sent as the settings say.
    #[error(transparent)]
    Spans(#[from] SpansError),
    /// The descriptors cannot be served.
    #[error("cannot serve the descriptors: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
    /// The descriptors cannot be read.
    #[error("cannot read the descriptors: {0}")]
    Interface(#[from] prost::DecodeError),
}

/// Serves until `shutdown` completes, then on for as long as the drain is to be put off, and then
/// until what is running has ended, or the time for draining is over.
pub async fn serve(
    listener: impl Into<Listener>,
    shutdown: impl Future<Output = ()> + Send,
    settings: Settings,
) -> Result<(), ServeError> {
    // In boxes, so that no caller compiles the server again.
    serve_until(listener.into(), Box::pin(shutdown), settings).await
}

fn serve_until<'a>(
    listener: Listener,
    shutdown: Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
    settings: Settings,
) -> Pin<Box<dyn Future<Output = Result<(), ServeError>> + Send + 'a>> {
    Box::pin(run(listener, shutdown, settings))
}

async fn run(
    listener: Listener,
    shutdown: Pin<Box<dyn Future<Output = ()> + Send + '_>>,
    settings: Settings,
) -> Result<(), ServeError> {
    let (leave, leaving) = Latch::new();
    let (drain, draining) = Latch::new();
    // Whoever reaches the loopback interface is on this machine already.
    let (address, protection) = (listener.address()?, Protection::of(&settings)?);
    protection.suffices_for(address, &settings)?;
    let side_listener = side_listener(&settings.http)?;
    let side_address = side_listener.as_ref().map(TcpListener::local_addr).transpose()?;
    let mut shared = Shared::new(settings, draining.clone())?;
    shared.leaves_open |= [address, side_address].iter().flatten().all(|at| at.ip().is_loopback());
    shared.leaving = leaving.clone();
    (shared.access, shared.spans) = (protection.access.clone(), spans::of(&shared.settings)?);
    shared.hold_to(protection.quotas.clone());
    let _store = open_store(&mut shared)?;
    let limits = shared.settings.limits.clone();
    let sessions = SessionHost::new(shared.clone());
    let service = shared.surround().layer(services(&shared, &sessions)?);
    let sweeping = sweeping(&shared, &sessions, &protection);
    let (serves, over) = Latch::new();
    let web = web(&shared, service.clone(), &protection)?;
    let shown = show(side_listener, &sessions, &protection, &web, over)?;
    let (accepting, incoming) = accepting(listener, &shared, protection.tls.is_some());
    let stopping = Stopping { leaving, draining };
    let of_connections = ConnectionSettings::new(&limits, stopping, protection.tls);
    let of_connections = of_connections.beside(side_address);
    let mut serving = serve_all(incoming, service, of_connections);
    tokio::select! {
        () = &mut serving => return Ok(()),
        () = shutdown => {}
    }
    // First the balancers and the streams learn of it, then new calls, then the listener closes.
    leave.set();
    if ends_within(limits.drain_delay_seconds, &mut serving).await {
        return Ok(());
    }
    tracing::info!("draining");
    drain.set();
    accepting.abort();
    // With it the listener, whose file goes.
    let _ = accepting.await;
    sweeping.iter().for_each(JoinHandle::abort);
    let ended = async {
        serving.await;
        web.until_idle().await;
    };
    drained(Duration::from_secs(limits.drain_seconds_max), ended).await;
    serves.set();
    if let Some(shown) = shown {
        // Its thread may be gone already.
        let _ = shown.await;
    }
    spans::finish(shared.spans).await;
    Ok(())
}

/// Whether everything has ended before the drain, which is put off by so many seconds.
async fn ends_within(delay: u64, serving: impl Future<Output = ()>) -> bool {
    if delay == 0 {
        return false;
    }
    tracing::info!(seconds = delay, "about to drain");
    tokio::time::timeout(Duration::from_secs(delay), serving).await.is_ok()
}

/// What looks through all that is kept from time to time.
fn sweeping(
    shared: &Shared,
    sessions: &SessionHost,
    protection: &Protection,
) -> [JoinHandle<()>; 6] {
    [
        tokio::spawn(sweep(sessions.registry.clone())),
        tokio::spawn(robots::sweep(shared.clone())),
        tokio::spawn(tidy(shared.memory_budget.clone())),
        tokio::spawn(keep_fresh(protection.files())),
        tokio::spawn(collect(shared.clone())),
        tokio::spawn(follow(shared.clone())),
    ]
}

/// Waits until what is under way has ended, or the time for draining is over.
async fn drained(time: Duration, ended: impl Future<Output = ()>) {
    match tokio::time::timeout(time, ended).await {
        Ok(()) => tracing::info!("drained"),
        Err(_) => tracing::warn!("the time for draining is over; what still runs is cut off"),
    }
}

/// What keeps registrations, for as long as the server runs: then another process may have it.
struct OpenStore(Option<Arc<Keeper>>);

impl Drop for OpenStore {
    fn drop(&mut self) {
        self.0.iter().for_each(|keeper| keeper.close());
    }
}

/// Opens what keeps registrations, if something is to. Nothing else runs yet that would wait.
fn open_store(shared: &mut Shared) -> Result<OpenStore, ServeError> {
    let Some(store) = shared.settings.store.clone() else { return Ok(OpenStore(None)) };
    let archive = archive::open(&store);
    let archive = archive.map_err(|error| ServeError::Store(error.to_string()))?;
    let kept = shared.keep_in(archive);
    kept.map_err(|error| ServeError::Store(error.to_string()))?;
    let open = OpenStore(shared.keeper().cloned());
    let (bodies, robots) = (shared.store().count(), shared.robots().count());
    tracing::info!(store = %store.display(), bodies, robots, "registrations are kept");
    Ok(open)
}

/// Between two looks for what was deleted a day ago.
const COLLECT_INTERVAL: Duration = Duration::from_secs(3600);

/// Lets go what was deleted long ago, for as long as it runs.
async fn collect(shared: Shared) {
    let Some(keeper) = shared.keeper().cloned() else { return };
    loop {
        let of_job = keeper.clone();
        // The next look tries again.
        let _ = tokio::task::spawn_blocking(move || of_job.collect()).await;
        tokio::time::sleep(COLLECT_INTERVAL).await;
    }
}

/// Between two looks at what other servers have registered and deleted in a store that they share,
/// for bodies that nobody asks for by an alias.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(2);

/// Learns what other servers do with the store, for as long as it runs.
async fn follow(shared: Shared) {
    let Some(keeper) = shared.keeper().filter(|keeper| keeper.is_shared()).cloned() else { return };
    loop {
        tokio::time::sleep(FOLLOW_INTERVAL).await;
        let of_job = keeper.clone();
        // The next look tries again.
        let _ = tokio::task::spawn_blocking(move || of_job.look()).await;
    }
}

/// What listens at the address of the side port, if there is one.
fn side_listener(address: &str) -> Result<Option<TcpListener>, ServeError> {
    if address.is_empty() {
        return Ok(None);
    }
    let unusable = |error| ServeError::SidePort { address: address.to_owned(), error };
    let listener = TcpListener::bind(address).map_err(unusable)?;
    let bound = listener.local_addr().map_err(unusable)?;
    tracing::info!(address = %bound, "pages for operators, and calls over HTTP/1.1");
    Ok(Some(listener))
}

/// Opens the side port, if there is one, until the latch is set; what is returned is over when all
/// is sent.
fn show(
    listener: Option<TcpListener>,
    sessions: &SessionHost,
    protection: &Protection,
    web: &Web,
    over: Latch,
) -> Result<Option<oneshot::Receiver<()>>, ServeError> {
    let Some(listener) = listener else { return Ok(None) };
    let port = side_port(sessions, protection, web.clone(), listener.local_addr()?);
    Ok(Some(side::show(listener, port, over)?))
}

/// The door for calls over HTTP/1.1.
fn web(
    shared: &Shared,
    services: AllServices,
    protection: &Protection,
) -> Result<Web, prost::DecodeError> {
    Ok(Web::new(WebParts {
        services,
        interface: Arc::new(interface()?),
        origins: protection.origins.clone(),
        limits: shared.limits().clone(),
        draining: shared.draining.clone(),
        runtime: tokio::runtime::Handle::current(),
    }))
}

fn side_port(
    sessions: &SessionHost,
    protection: &Protection,
    web: Web,
    address: SocketAddr,
) -> SidePort {
    let shared = &sessions.shared;
    let takes_plain_calls = protection.takes_plain_calls(address, &shared.settings);
    if !takes_plain_calls && protection.tls.is_none() {
        tracing::warn!(%address, "calls over HTTP/1.1 are refused: there is no TLS (tls_cert)");
    }
    SidePort {
        pages: pages::of(sessions),
        web,
        takes_plain_calls,
        tls: protection.tls.clone(),
        connections_max: shared.limits().http_connections_max,
        memory_budget: shared.memory_budget.clone(),
    }
}

/// Connections as they come, and what accepts them.
fn accepting(
    listener: Listener,
    shared: &Shared,
    uses_tls: bool,
) -> (JoinHandle<()>, mpsc::Receiver<Admitted>) {
    let (taker, incoming) = mpsc::channel(1);
    let limits = shared.limits();
    let admission = Admission {
        connections_max: limits.connections_max,
        handshake: Duration::from_secs(limits.handshake_seconds_max),
        uses_tls,
        memory_budget: shared.memory_budget.clone(),
    };
    (tokio::spawn(accept(listener, admission, taker)), incoming)
}
