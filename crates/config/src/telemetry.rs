//! Floor 4: where log lines go.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use clearance_runtime::behalf::KnownCall;
use clearance_runtime::settings::{LogFormat, Settings};

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter is none.
    #[error("log filter: {0}")]
    Filter(#[from] tracing_subscriber::filter::ParseError),
    /// A word of the filter is no level.
    #[error("log filter: {0}")]
    Level(String),
    /// Somebody else has installed one.
    #[error("the log is already set up: {0}")]
    Taken(#[from] tracing_subscriber::util::TryInitError),
}

/// Sends log lines to standard error, and panics with them.
pub fn start(settings: &Settings) -> Result<(), TelemetryError> {
    use tracing_subscriber::util::SubscriberInitExt;
    let filter = filter(settings)?;
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
        let call = KnownCall::current();
        let request_id = call.as_ref().map(|call| call.id.as_str());
        let words = panic.payload_as_str().unwrap_or("a panic without words");
        tracing::error!(request_id, place, "{words}");
    }));
    Ok(())
}

/// Which log lines are written.
pub fn filter(settings: &Settings) -> Result<EnvFilter, TelemetryError> {
    check_levels(&settings.log).map_err(TelemetryError::Level)?;
    Ok(EnvFilter::try_new(&settings.log)?)
}

/// What a word of the filter may be that stands alone.
const LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];

/// Refuses words that stand alone and are no level: the filter takes them for the name of a crate,
/// of which all lines are written, and a misspelt level silenced everything else.
fn check_levels(filter: &str) -> Result<(), String> {
    for word in filter.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let is_level = LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word));
        if is_level || word.contains(['=', '[']) {
            continue;
        }
        let wrong = |level: &&&str| strsim::osa_distance(level, &word.to_ascii_lowercase());
        let near = LEVELS.iter().min_by_key(wrong).filter(|level| wrong(level) <= 2);
        let way = match near {
            Some(level) => format!("did you mean {level}?"),
            None => {
                format!("levels are {}; all lines of a crate are {word}=trace", LEVELS.join(", "))
            }
        };
        return Err(format!("{word} is no level; {way}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `--log debg` nothing was written any more, and nothing said so.
    #[test]
    fn misspelt_levels_are_refused_with_the_nearest() {
        for right in
            ["info", "DEBUG", "off", "", "clearance=debug,warn", "[{frame}]=trace", "warn,h2=off"]
        {
            assert_eq!(check_levels(right), Ok(()), "{right}");
        }
        for (wrong, words) in [
            ("debg", "debg is no level; did you mean debug?"),
            ("info,wran", "wran is no level; did you mean warn?"),
            ("clearance", "all lines of a crate are clearance=trace"),
        ] {
            let said = check_levels(wrong).unwrap_err();
            assert!(said.contains(words), "{said}");
        }
    }
}
