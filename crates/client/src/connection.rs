//! Where servers are, how they are reached, and the connection that is in use.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tonic::Status;
use tonic::transport::{Channel, Endpoint};

use crate::credentials::{ApiKey, BringKey, KeyedChannel, TlsOptions};
use crate::error::Error;
use crate::known::Known;
use crate::readable::ReadableChannel;
use crate::retry::{LastSaid, Remedy, RetryPolicy};
use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::query_service_client::QueryServiceClient;
use clearance_proto::robot_service_client::RobotServiceClient;
use clearance_proto::server_service_client::ServerServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;

/// How servers are reached.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Bytes of the longest message that is sent or received. Longer replies than 4,000,000 bytes
    /// come only where a request asks for them (`reply_bytes_max`).
    pub message_bytes_max: usize,
    /// Bytes that may be under way on one stream; missing: the transport's default, 64 KiB.
    pub stream_window_bytes: Option<u32>,
    /// Bytes that may be under way on the connection; missing: the transport's default, 64 KiB.
    pub connection_window_bytes: Option<u32>,
    /// The address of this machine that the connection is to come from; missing: the system's
    /// choice.
    pub local_address: Option<IpAddr>,
    /// How long a connection may take to be made.
    pub connect_seconds_max: u64,
    /// When calls are tried again.
    pub retry: RetryPolicy,
    /// Brought with each call, for servers that ask for one.
    pub api_key: Option<ApiKey>,
    /// Needed where addresses begin with `https`.
    pub tls: Option<TlsOptions>,
    /// For proxies that route by the header `clearance-session`: all calls of this client bring
    /// this in it, so that one server gets them, registrations and questions that name these too.
    /// Missing: calls about a session bring its id, and others nothing.
    pub route: Option<String>,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            message_bytes_max: 64 << 20,
            stream_window_bytes: None,
            connection_window_bytes: None,
            local_address: None,
            connect_seconds_max: 20,
            retry: RetryPolicy::default(),
            api_key: None,
            tls: None,
            route: None,
        }
    }
}

impl ConnectOptions {
    fn endpoint(&self, address: &str) -> Result<Endpoint, Error> {
        let endpoint = Channel::from_shared(address.to_owned())
            .map_err(|error| Error::Address(error.to_string()))?;
        let endpoint = match &self.tls {
            Some(tls) => endpoint.tls_config(tls.to_config())?,
            None => endpoint,
        };
        Ok(endpoint
            .tcp_nodelay(true)
            .connect_timeout(Duration::from_secs(self.connect_seconds_max))
            .initial_stream_window_size(self.stream_window_bytes)
            .initial_connection_window_size(self.connection_window_bytes)
            .local_address(self.local_address))
    }
}

/// A connection to a server, and what is known of it. Cheap to clone; clones share it.
#[derive(Clone, Debug)]
pub struct Client {
    common: Arc<Common>,
}

#[derive(Debug)]
struct Common {
    servers: Vec<Endpoint>,
    options: ConnectOptions,
    key: BringKey,
    current: Mutex<Current>,
    known: Mutex<Known>,
}

/// The connection in use.
#[derive(Clone, Debug)]
pub(crate) struct Current {
    channel: Channel,
    /// How many connections there were before.
    number: usize,
    /// Index of the server among the addresses.
    server: usize,
}

impl Client {
    /// Connects to the server at an address, for example `http://127.0.0.1:50061`.
    pub async fn connect(address: &str) -> Result<Self, Error> {
        Self::connect_with(&[address], ConnectOptions::default()).await
    }

    /// Connects to the first server of a list that can be reached. Where one stops, the next is
    /// taken.
    pub async fn connect_with(addresses: &[&str], options: ConnectOptions) -> Result<Self, Error> {
        let servers: Vec<Endpoint> =
            addresses.iter().map(|address| options.endpoint(address)).collect::<Result<_, _>>()?;
        let key = BringKey::of(options.api_key.as_ref(), options.route.as_deref())?;
        let mut failed = Error::Address("there is no address".to_owned());
        for (server, endpoint) in servers.iter().enumerate() {
            match endpoint.connect().await {
                Ok(channel) => {
                    let current = Mutex::new(Current { channel, number: 0, server });
                    let known = Mutex::default();
                    let common = Common { servers, options, key, current, known };
                    return Ok(Self { common: Arc::new(common) });
                }
                Err(error) => failed = error.into(),
            }
        }
        Err(failed)
    }

    /// The connection in use, for services beside those of this API.
    pub fn channel(&self) -> KeyedChannel {
        KeyedChannel::new(ReadableChannel(self.current().channel), self.common.key.clone())
    }

    /// The service of sessions over a connection that may be in use no more.
    pub(crate) fn sessions_over(&self, connection: &Current) -> SessionServiceClient<KeyedChannel> {
        let channel = ReadableChannel(connection.channel.clone());
        SessionServiceClient::new(KeyedChannel::new(channel, self.common.key.clone()))
    }

    /// How it was connected.
    pub fn options(&self) -> &ConnectOptions {
        &self.common.options
    }

    /// The generated client of the service of questions; it tries nothing again.
    pub fn queries(&self) -> QueryServiceClient<KeyedChannel> {
        let bytes = self.options().message_bytes_max;
        QueryServiceClient::new(self.channel())
            .max_encoding_message_size(bytes)
            .max_decoding_message_size(bytes)
    }

    /// The generated client of the service of polytopes; it tries nothing again.
    pub fn polytopes(&self) -> PolytopeServiceClient<KeyedChannel> {
        let bytes = self.options().message_bytes_max;
        PolytopeServiceClient::new(self.channel())
            .max_encoding_message_size(bytes)
            .max_decoding_message_size(bytes)
    }

    /// The generated client of the service of robots; it tries nothing again.
    pub fn robots(&self) -> RobotServiceClient<KeyedChannel> {
        let bytes = self.options().message_bytes_max;
        RobotServiceClient::new(self.channel())
            .max_encoding_message_size(bytes)
            .max_decoding_message_size(bytes)
    }

    /// The generated client of the service of sessions; it tries nothing again.
    pub fn sessions(&self) -> SessionServiceClient<KeyedChannel> {
        let bytes = self.options().message_bytes_max;
        SessionServiceClient::new(self.channel())
            .max_encoding_message_size(bytes)
            .max_decoding_message_size(bytes)
    }

    /// The generated client of the server's own service; it tries nothing again.
    pub fn server(&self) -> ServerServiceClient<KeyedChannel> {
        let bytes = self.options().message_bytes_max;
        ServerServiceClient::new(self.channel()).max_decoding_message_size(bytes)
    }

    /// Asks until there is an answer, or nothing helps any more. A question that is not the last
    /// attempt is kept for another one, so `ask` makes its request each time.
    pub(crate) async fn retried<T>(
        &self,
        mut ask: impl AsyncFnMut() -> Result<T, Status>,
    ) -> Result<T, Error> {
        let mut attempt = 1;
        let mut said = LastSaid::default();
        loop {
            let connection = self.current();
            let status = match ask().await {
                Ok(answer) => return Ok(answer),
                Err(status) => status,
            };
            said.hear(&status);
            let Some((remedy, pause)) = self.options().retry.after(attempt, &status) else {
                return Err(said.told(status).into());
            };
            tokio::time::sleep(pause).await;
            if remedy == Remedy::Reconnect {
                self.move_on(&connection);
            }
            attempt += 1;
        }
    }

    /// Takes the next server, or a new connection to the only one, unless somebody has done so
    /// since. The connection is made with the next call.
    pub(crate) fn move_on(&self, from: &Current) {
        let mut current = locked(&self.common.current);
        if current.number == from.number {
            let server = (from.server + 1) % self.common.servers.len();
            let channel = self.common.servers[server].connect_lazy();
            *current = Current { channel, number: from.number + 1, server };
        }
    }

    pub(crate) fn current(&self) -> Current {
        locked(&self.common.current).clone()
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        locked(&self.common.known)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics while holding it")
}
