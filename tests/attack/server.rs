//! The server as a process of its own, and connections to it.

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::query_service_client::QueryServiceClient;
use clearance_proto::robot_service_client::RobotServiceClient;
use clearance_proto::server_service_client::ServerServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use rustix::process::{Pid, Signal, kill_process};
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::health_client::HealthClient;

use crate::secured::{self, Bring, secrets};

/// Sets what the server may give out.
pub(crate) const MEMORY_FLAG: &str = "--memory-bytes-max";

/// Names the binary that is attacked.
const SERVER: &str = "CLEARANCE_SERVER";

/// Mebibytes that the server may give out, where a row does not say so itself.
const MEMORY_MIB: &str = "CLEARANCE_ATTACK_MEMORY_MIB";

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    child: Child,
    /// Whether it speaks TLS and asks for keys.
    is_secured: bool,
}

/// How a server is started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    /// Flags beside the defaults.
    pub(crate) flags: Vec<String>,
    /// The address space that the process may have, bytes.
    pub(crate) address_space_max: Option<u64>,
    /// How many descriptors it may have at first, and when it asks for more.
    pub(crate) descriptors: Option<[u64; 2]>,
    /// It speaks TLS and asks for keys, even where the other rows are without.
    pub(crate) is_secured: bool,
}

/// The binary that is attacked.
fn binary() -> PathBuf {
    std::env::var_os(SERVER).map_or_else(|| env!("CARGO_BIN_EXE_clearance").into(), PathBuf::from)
}

/// By how much bounds of time are stretched: what was built for tests takes ten times as long.
pub(crate) fn slowness() -> u32 {
    if std::env::var_os(SERVER).is_some() { 1 } else { 10 }
}

impl Server {
    /// With every default, on a free port.
    pub(crate) fn start() -> Self {
        Self::started(&Start::default())
    }

    pub(crate) fn started(start: &Start) -> Self {
        let space = start.address_space_max.map(|bytes| format!("ulimit -v {};", bytes >> 10));
        // The lower one first: it may not be above the higher one.
        let descriptors = start
            .descriptors
            .map(|[first, most]| format!("ulimit -S -n {first}; ulimit -H -n {most};"));
        let limited = [space, descriptors].into_iter().flatten().collect::<String>();
        let mut command = Command::new("sh");
        command.arg("-c").arg(limited + "exec \"$0\" \"$@\"").arg(binary());
        command.args(["serve", "--listen", "127.0.0.1:0", "--log", "error"]).args(&start.flags);
        let is_secured = start.is_secured || secured::is_asked_for();
        if is_secured {
            command.args(secrets().flags());
        }
        let is_given = start.flags.iter().any(|flag| flag == MEMORY_FLAG);
        if let Some(mib) = std::env::var(MEMORY_MIB).ok().filter(|_| !is_given) {
            let mib: u64 = mib.parse().expect("a number of mebibytes");
            command.arg(MEMORY_FLAG).arg((mib << 20).to_string());
        }
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(' ').next());
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}")).parse().unwrap();
        Self { address, child, is_secured }
    }

    /// A connection of its own: to the server each is another client.
    pub(crate) async fn connect(&self) -> Client {
        self.connection(None).await.expect("the server accepts")
    }

    /// A connection from another address of this machine.
    pub(crate) async fn connect_from(&self, address: [u8; 4]) -> Client {
        self.connection(Some(address.into())).await.expect("the server accepts")
    }

    async fn connection(&self, from: Option<IpAddr>) -> Result<Client, tonic::transport::Error> {
        Client::over(endpoint(self.address, self.is_secured), self.is_secured, from).await
    }

    /// Whether it speaks TLS and asks for keys.
    pub(crate) fn is_secured(&self) -> bool {
        self.is_secured
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).expect("it runs");
    }

    /// How it ended, and after what time; a panic if it has not after `patience`.
    pub(crate) fn ended(&mut self, patience: Duration) -> (ExitStatus, Duration) {
        let start = Instant::now();
        while start.elapsed() < patience {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status, start.elapsed());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server still runs {patience:?} after it was told to stop");
    }

    /// Whether it has ended by itself, which it never should.
    pub(crate) fn has_died(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a process holds in memory, bytes; zero once it is gone.
pub(crate) fn resident(process: u32) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * rustix::param::page_size() as u64
}

/// How a server is reached.
pub(crate) fn endpoint(to: SocketAddr, is_secured: bool) -> Endpoint {
    if is_secured {
        return secrets().endpoint(to);
    }
    Channel::from_shared(format!("http://{to}")).unwrap()
}

/// A connection over which each call brings the key of its tenant, where there are some.
pub(crate) type Wire = InterceptedService<Channel, Bring>;

/// A connection.
#[derive(Clone, Debug)]
pub(crate) struct Client(pub(crate) Wire);

/// Beyond every limit of the server, so that the server's own are what is met.
const MESSAGE_BYTES: usize = 512 << 20;

impl Client {
    pub(crate) async fn to(address: SocketAddr) -> Self {
        Self::try_to(address).await.expect("the server accepts")
    }

    /// Unless the server has no place for another connection.
    pub(crate) async fn try_to(address: SocketAddr) -> Result<Self, tonic::transport::Error> {
        let is_secured = secured::is_asked_for();
        Self::over(endpoint(address, is_secured), is_secured, None).await
    }

    /// Over a connection that is there.
    pub(crate) fn new(channel: Channel, bring: Bring) -> Self {
        Self(Wire::new(channel, bring))
    }

    /// From this address, and as its tenant where tenants are asked for.
    pub(crate) async fn over(
        endpoint: Endpoint,
        is_secured: bool,
        from: Option<IpAddr>,
    ) -> Result<Self, tonic::transport::Error> {
        let channel = endpoint.local_address(from).connect().await?;
        Ok(Self::new(channel, if is_secured { secrets().bring(from) } else { Bring::default() }))
    }

    /// With an address of its own.
    pub(crate) async fn from_to(from: [u8; 4], to: SocketAddr) -> Self {
        Self::try_from_to(from, to).await.expect("the server accepts")
    }

    /// With an address of its own, unless the server has no place for another connection.
    pub(crate) async fn try_from_to(
        from: [u8; 4],
        to: SocketAddr,
    ) -> Result<Self, tonic::transport::Error> {
        let is_secured = secured::is_asked_for();
        Self::over(endpoint(to, is_secured), is_secured, Some(from.into())).await
    }

    pub(crate) fn queries(&self) -> QueryServiceClient<Wire> {
        QueryServiceClient::new(self.0.clone())
            .max_encoding_message_size(MESSAGE_BYTES)
            .max_decoding_message_size(MESSAGE_BYTES)
    }

    pub(crate) fn polytopes(&self) -> PolytopeServiceClient<Wire> {
        PolytopeServiceClient::new(self.0.clone())
            .max_encoding_message_size(MESSAGE_BYTES)
            .max_decoding_message_size(MESSAGE_BYTES)
    }

    pub(crate) fn sessions(&self) -> SessionServiceClient<Wire> {
        SessionServiceClient::new(self.0.clone())
            .max_encoding_message_size(MESSAGE_BYTES)
            .max_decoding_message_size(MESSAGE_BYTES)
    }

    pub(crate) fn robots(&self) -> RobotServiceClient<Wire> {
        RobotServiceClient::new(self.0.clone())
            .max_encoding_message_size(MESSAGE_BYTES)
            .max_decoding_message_size(MESSAGE_BYTES)
    }

    pub(crate) fn info(&self) -> ServerServiceClient<Wire> {
        ServerServiceClient::new(self.0.clone())
    }

    pub(crate) fn health(&self) -> HealthClient<Wire> {
        HealthClient::new(self.0.clone())
    }
}
