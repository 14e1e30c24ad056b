//! Floor 4: `clearance health`: one question to a server, for probes of containers.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use clap::Args;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

/// Whom to ask.
#[derive(Clone, Debug, Args)]
pub(crate) struct HealthOptions {
    /// Where the server listens, HOST:PORT or unix:PATH; or http://HOST:PORT, where it shows its
    /// pages for operators, as one does that speaks TLS.
    #[arg(default_value = "127.0.0.1:50061")]
    address: String,
    /// How long to wait for the answer, seconds.
    #[arg(long, default_value_t = 3)]
    timeout: u64,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HealthError {
    /// Nobody is there, or it is not a server of ours.
    #[error("{address}: {problem}")]
    Unanswered {
        /// Where it was asked.
        address: String,
        /// What went wrong.
        problem: String,
    },
    /// Something of the operating system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Whether it takes calls.
pub(crate) fn run(options: &HealthOptions, out: &mut dyn Write) -> Result<bool, HealthError> {
    let time = Duration::from_secs(options.timeout.max(1));
    let unanswered =
        |problem: String| HealthError::Unanswered { address: options.address.clone(), problem };
    let said = match options.address.strip_prefix("http://") {
        Some(pages) => page(pages, time).map_err(|error| unanswered(error.to_string()))?,
        None => called(&options.address, time).map_err(unanswered)?,
    };
    writeln!(out, "{said}")?;
    Ok(said == "SERVING")
}

/// By the protocol that all servers of gRPC have for it.
fn called(address: &str, time: Duration) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let uri = match address.strip_prefix("unix:") {
        Some(path) => format!("unix://{path}"),
        None => format!("http://{address}"),
    };
    let asking = async {
        let endpoint = tonic::transport::Endpoint::from_shared(uri);
        let endpoint = endpoint.map_err(|error| error.to_string())?;
        let channel = endpoint.connect().await.map_err(|error| error.to_string())?;
        let asked = HealthClient::new(channel).check(HealthCheckRequest::default()).await;
        let status = asked.map_err(|status| status.to_string())?.into_inner().status();
        Ok(if status == ServingStatus::Serving { "SERVING" } else { "NOT_SERVING" }.to_owned())
    };
    let answer = runtime.block_on(async { tokio::time::timeout(time, asking).await });
    answer.unwrap_or_else(|_| Err("there was no answer in time".to_owned()))
}

/// By the page that says so.
fn page(address: &str, time: Duration) -> io::Result<String> {
    let address = address.trim_end_matches('/');
    let none = || io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    let at = address.to_socket_addrs()?.next().ok_or_else(none)?;
    let mut stream = TcpStream::connect_timeout(&at, time)?;
    stream.set_read_timeout(Some(time))?;
    stream.set_write_timeout(Some(time))?;
    let request = format!("GET /readyz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut head = [0; 16];
    let mut read = 0;
    while read < head.len() {
        match stream.read(&mut head[read..])? {
            0 => break,
            more => read += more,
        }
    }
    let is_ready = head[..read].starts_with(b"HTTP/1.1 200");
    Ok(if is_ready { "SERVING" } else { "NOT_SERVING" }.to_owned())
}
