//! Floor 4: where log lines go.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::runtime::settings::{LogFormat, Settings};

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter is none.
    #[error("log filter: {0}")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// Somebody else has installed one.
    #[error("the log is already set up: {0}")]
    Taken(#[from] tracing_subscriber::util::TryInitError),
}

/// Sends log lines to standard error, and panics with them.
pub fn start(settings: &Settings) -> Result<(), TelemetryError> {
    use tracing_subscriber::util::SubscriberInitExt;
    let filter = EnvFilter::try_new(&settings.log)?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    match settings.log_format {
        LogFormat::Text => lines.compact().finish().try_init()?,
        LogFormat::Json => lines.json().flatten_event(true).finish().try_init()?,
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "{}", panic.payload_as_str().unwrap_or("a panic without words"));
    }));
    Ok(())
}
