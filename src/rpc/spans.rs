//! Where spans go: to the collector that the settings name, or else the environment in the words of
//! OpenTelemetry; where the server was built for it (feature `otlp`).

use std::time::Duration;

use clearance_runtime::settings::Settings;
use clearance_runtime::spans::Spans;

/// What the end of a server waits for a collector.
const LAST_SPANS: Duration = Duration::from_millis(300);

/// Why spans cannot be sent as the settings say.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SpansError(String);

/// What takes spans to a collector, if one is named.
#[cfg(feature = "otlp")]
pub fn of(settings: &Settings) -> Result<Option<Spans>, SpansError> {
    let mut endpoint = settings.otlp_endpoint.clone();
    if endpoint.is_empty() {
        endpoint = std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT").unwrap_or_default();
    }
    if endpoint.is_empty() {
        return Ok(None);
    }
    let sink = clearance_otlp::OtlpSink::start(&endpoint, env!("CARGO_PKG_VERSION"));
    let sink = sink.map_err(|error| SpansError(error.to_string()))?;
    tracing::info!(endpoint, "spans are sent to a collector");
    let slow_frame = Duration::from_micros(settings.limits.slow_frame_micros);
    Ok(Some(Spans::new(std::sync::Arc::new(sink), slow_frame)))
}

/// Nothing, in a server that was built without; one that is told to is refused.
#[cfg(not(feature = "otlp"))]
pub fn of(settings: &Settings) -> Result<Option<Spans>, SpansError> {
    if settings.otlp_endpoint.is_empty() {
        return Ok(None);
    }
    Err(SpansError("otlp_endpoint: this server was built without the feature otlp".to_owned()))
}

/// Sends what is left, as far as the collector takes it in time.
pub(super) async fn finish(spans: Option<Spans>) {
    let Some(spans) = spans else { return };
    // That it could not be done is no reason not to end.
    let _ = tokio::task::spawn_blocking(move || spans.sink().finish(LAST_SPANS)).await;
}
