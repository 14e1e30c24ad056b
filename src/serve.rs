//! Floor 4: `clearance serve`: settings, log, listener, signals; and a server for the demo.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clearance_config::options::{ConfigError, Loaded, ServeOptions};
use clearance_config::telemetry::{self, TelemetryError};
use clearance_runtime::descriptors;
use clearance_runtime::settings::Settings;
use clearance_runtime::signals::stop_signal;
use clearance_transport::listener::{LOCAL_PREFIX, Listener};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::rpc;
use crate::rpc::protection::{Protection, ProtectionError};

/// What the process may take to end when the time for draining is over: to end its threads and to
/// give back what it holds.
const LAST_STEPS: Duration = Duration::from_secs(1);

/// Characters of the address that sessions are said to live at: more than names of machines have.
const ADVERTISED_MAX: usize = 300;

/// Why the server did not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The settings could not be read, or contradict each other.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The log could not be set up.
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address that was asked for.
        address: String,
        /// What the system says about it.
        error: io::Error,
    },
    /// An address has no port.
    #[error("{name}: {address:?} names no port, as 127.0.0.1:50061 and [::1]:50061 do")]
    NoPort {
        /// The setting.
        name: &'static str,
        /// What it is set to.
        address: String,
    },
    /// An address cannot be told to clients.
    #[error("advertise: {0:?} is no address, as HOST:PORT and unix:PATH are")]
    Unspeakable(String),
    /// Something of the operating system.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Strangers are not kept out as the settings say, or not at all.
    #[error(transparent)]
    Protection(#[from] ProtectionError),
    /// The server ended.
    #[error(transparent)]
    Serve(#[from] rpc::serve::ServeError),
}

/// Runs the server until it is told to stop.
pub fn run(options: &ServeOptions) -> Result<(), RunError> {
    let loaded = options.load(std::env::vars_os())?;
    if options.checks_only {
        return tell(&loaded);
    }
    let Loaded { settings, file, strangers } = loaded;
    telemetry::start(&settings)?;
    if !strangers.is_empty() {
        let variables = strangers.join(", ");
        tracing::warn!(variables, "these are no settings and are not looked at");
    }
    descriptors::raise();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let result = runtime.block_on(listen_and_serve(settings, file));
    // What outlived the time for draining is not waited for.
    runtime.shutdown_background();
    result
}

/// Says whether a server would start with these settings, but for what the machine refuses.
fn tell(loaded: &Loaded) -> Result<(), RunError> {
    let Loaded { settings, file, strangers } = loaded;
    telemetry::filter(settings)?;
    check_addresses(settings)?;
    rpc::spans::of(settings).map_err(rpc::serve::ServeError::from)?;
    let protection = Protection::of(settings)?;
    if settings.listen.starts_with(LOCAL_PREFIX) {
        protection.suffices_for(None, settings)?;
    } else if let Ok(address) = settings.listen.parse() {
        protection.suffices_at(address, settings)?;
    }
    let mut out = io::stdout().lock();
    for variable in strangers {
        writeln!(out, "# {variable} is no setting and is not looked at")?;
    }
    let differing = loaded.differing();
    let source = source(file.as_ref());
    let what = if differing.is_empty() { "all are the defaults" } else { "these differ:" };
    writeln!(out, "# the settings can be used (from {source}); {what}")?;
    differing.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(())
}

/// What limits are told to be from.
fn source(file: Option<&PathBuf>) -> String {
    file.map_or_else(|| "flags and defaults".to_owned(), |file| file.display().to_string())
}

/// Serves with the default settings, and on a side port if one is named, until it is told to stop,
/// or nobody is left to tell.
pub async fn until_told(
    listener: TcpListener,
    door: Option<String>,
    stop: oneshot::Receiver<()>,
) -> Result<(), String> {
    let shutdown = async {
        // A dropped sender means stop, too.
        let _ = stop.await;
    };
    let settings = Settings { http: door.unwrap_or_default(), ..Settings::default() };
    let served = rpc::serve(listener, shutdown, settings).await;
    served.map_err(|error| error.to_string())
}

async fn listen_and_serve(settings: Settings, file: Option<PathBuf>) -> Result<(), RunError> {
    check_addresses(&settings)?;
    let listener = Listener::bind(&settings.listen).await;
    let listener =
        listener.map_err(|error| RunError::Listen { address: settings.listen.clone(), error })?;
    Protection::of(&settings)?.suffices_for(listener.address()?, &settings)?;
    // Before the line that says so, or a quick signal would kill the process.
    let limits = &settings.limits;
    let [delay, drain] = [limits.drain_delay_seconds, limits.drain_seconds_max];
    let within = Duration::from_secs(delay.saturating_add(drain));
    let shutdown = stop_signal(within.saturating_add(LAST_STEPS))?;
    let source = source(file.as_ref());
    writeln!(
        io::stdout(),
        "clearance {} listening on {} (pid {}, limits from {source})",
        env!("CARGO_PKG_VERSION"),
        listener.name()?,
        std::process::id(),
    )?;
    Ok(rpc::serve(listener, shutdown, settings).await?)
}

/// That what is listened on, and what clients are told, are addresses with a port, or files.
fn check_addresses(settings: &Settings) -> Result<(), RunError> {
    let Settings { listen, advertise, .. } = settings;
    if !advertise.bytes().all(|byte| byte.is_ascii_graphic()) || advertise.len() > ADVERTISED_MAX {
        return Err(RunError::Unspeakable(advertise.clone()));
    }
    for (name, address) in [("listen", listen), ("advertise", advertise)] {
        // That nothing is advertised is no mistake.
        if lacks_port(address) && (name == "listen" || !address.is_empty()) {
            return Err(RunError::NoPort { name, address: address.clone() });
        }
    }
    Ok(())
}

/// Whether an address to listen on is that of a machine alone.
fn lacks_port(address: &str) -> bool {
    if let Some(path) = address.strip_prefix(LOCAL_PREFIX) {
        return path.is_empty();
    }
    let port = address.rsplit_once(':').map(|(_, port)| port);
    let is_bare_v6 = address.parse::<std::net::Ipv6Addr>().is_ok();
    is_bare_v6 || port.is_none_or(|port| port.is_empty() || port.ends_with(']'))
}

#[cfg(test)]
mod tests {
    use super::lacks_port;

    #[test]
    fn an_address_without_a_port_is_told_apart() {
        for whole in ["127.0.0.1:0", "[::1]:50061", "localhost:1", "0.0.0.0:50061", "unix:/x"] {
            assert!(!lacks_port(whole), "{whole}");
        }
        for bare in ["127.0.0.1", "localhost", "::1", "[::1]", "127.0.0.1:", "", "unix:"] {
            assert!(lacks_port(bare), "{bare}");
        }
    }
}
