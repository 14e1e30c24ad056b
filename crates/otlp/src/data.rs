//! Spans in the words of OpenTelemetry.

use clearance_runtime::spans::{Attribute, EndedSpan};
use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue, StringValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

/// How a server is called that its environment gives no name.
const NAME: &str = "clearance";

/// Who tells the spans: what `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME` say, and the
/// version.
pub(crate) fn resource(version: &'static str) -> Resource {
    let builder = Resource::builder().with_attribute(KeyValue::new("service.version", version));
    let is_named = ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"].iter().any(|name| {
        let value = std::env::var(name).unwrap_or_default();
        !value.is_empty() && (*name == "OTEL_SERVICE_NAME" || value.contains("service.name="))
    });
    if is_named { builder.build() } else { builder.with_service_name(NAME).build() }
}

/// A span as it is sent.
pub(crate) fn span_data(span: &EndedSpan, scope: &InstrumentationScope) -> SpanData {
    let (parent, is_remote) = span.parent.unwrap_or((0, false));
    let kind = if span.name == "frame" { SpanKind::Internal } else { SpanKind::Server };
    let of = |attribute: &Attribute| match attribute {
        Attribute::Text(text) => Value::String(StringValue::from(text.clone())),
        Attribute::Name(text) => Value::String(StringValue::from(*text)),
        Attribute::Number(number) => Value::I64(i64::try_from(*number).unwrap_or(i64::MAX)),
    };
    SpanData {
        span_context: SpanContext::new(
            TraceId::from(span.place.trace),
            SpanId::from(span.place.span),
            TraceFlags::SAMPLED,
            false,
            TraceState::default(),
        ),
        parent_span_id: SpanId::from(parent),
        parent_span_is_remote: is_remote,
        span_kind: kind,
        name: span.name.into(),
        start_time: span.start,
        end_time: span.start + span.elapsed,
        attributes: span
            .attributes
            .iter()
            .map(|(key, value)| KeyValue::new(*key, of(value)))
            .collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: if span.is_fault { Status::error("a fault of the server") } else { Status::Unset },
        instrumentation_scope: scope.clone(),
    }
}
