//! Pages for operators: `/livez`, `/readyz`, and `/metrics` in the format that is asked for; and
//! the viewer at `/`, if it was built in.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::StatusCode;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet, prometheus_protobuf,
    prometheus_text, text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use crate::rpc::services::info::build;
use crate::rpc::services::sessions::SessionHost;
use crate::rpc::shared::Shared;
use clearance_runtime::archive::keeper::Keeper;
use clearance_runtime::memory::{MemoryKind, resident_bytes};
use clearance_runtime::metrics::{FRAME_TIMES, FrameMetrics, QuestionKind, QuestionMetrics, Times};
use clearance_runtime::quotas::QuotaKind;
use clearance_runtime::spans::SpanCounts;
use clearance_transport::side::{Pages, ShownPage};

const TEXT: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROTOBUF: &str = "application/vnd.google.protobuf; \
                        proto=io.prometheus.client.MetricFamily; encoding=delimited";

/// What the names of all metrics begin with.
const PREFIX: &str = "clearance";

const PATHS: &str = "There are /livez, /readyz and /metrics, and calls by POST.\n";

/// The viewer's page, packed by gzip; empty where the server was built without.
pub const VIEWER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/viewer.html.gz"));

const HTML: &str = "text/html; charset=utf-8";

/// The pages of one server.
pub struct OperatorPages {
    shared: Shared,
    registry: Registry,
}

impl OperatorPages {
    /// The pages of the server that has these sessions.
    pub fn new(host: &SessionHost) -> Self {
        let shared = host.shared.clone();
        let mut registry = Registry::with_prefix(PREFIX);
        let calls = &shared.metrics.by_call;
        let by_code = "Calls that were answered, and streams that have begun";
        registry.register("calls", by_code, calls.by_code.clone());
        let seconds = "Time from the headers of a call that has one answer to that";
        registry.register_with_unit("call", seconds, Unit::Seconds, calls.seconds.clone());
        registry.register("connections", "Open connections", calls.connections.clone());
        registry.register_collector(Box::new(State(host.clone())));
        Self { shared, registry }
    }

    fn metrics(&self, accept: &str) -> Result<ShownPage, fmt::Error> {
        let (content_type, text) = if accept.contains("application/vnd.google.protobuf") {
            let encoded = prometheus_protobuf::encode_to_vec(&self.registry);
            (PROTOBUF, encoded.map_err(|_| fmt::Error)?)
        } else if accept.contains("application/openmetrics-text") {
            let mut page = String::new();
            text::encode(&mut page, &self.registry)?;
            (OPEN_METRICS, page.into_bytes())
        } else {
            let mut page = String::new();
            prometheus_text::encode(&mut page, &self.registry)?;
            (prometheus_text::CONTENT_TYPE, page.into_bytes())
        };
        Ok(ShownPage { status: StatusCode::OK, content_type, text, is_packed: false })
    }
}

impl Pages for OperatorPages {
    fn page(&self, path: &str, accept: &str) -> ShownPage {
        let said = |status, text: &str| {
            let (content_type, text) = (TEXT, text.into());
            ShownPage { status, content_type, text, is_packed: false }
        };
        match path {
            "/livez" => said(StatusCode::OK, "lives\n"),
            "/readyz" if self.shared.is_leaving() => {
                said(StatusCode::SERVICE_UNAVAILABLE, "draining\n")
            }
            "/readyz" => said(StatusCode::OK, "ready\n"),
            "/metrics" => self.metrics(accept).unwrap_or_else(|_| {
                said(StatusCode::INTERNAL_SERVER_ERROR, "the metrics cannot be written\n")
            }),
            "/" | "/index.html" if !VIEWER.is_empty() => {
                let (status, text) = (StatusCode::OK, VIEWER.to_vec());
                ShownPage { status, content_type: HTML, text, is_packed: true }
            }
            _ => said(StatusCode::NOT_FOUND, PATHS),
        }
    }
}

/// What is read when somebody asks.
#[derive(Debug)]
struct State(SessionHost);

impl Collector for State {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let page = &mut Writer(&mut encoder);
        let Self(SessionHost { shared, registry, .. }) = self;
        let (metrics, memory) = (&shared.metrics, &shared.memory_budget);
        page.questions(&metrics.by_question)?;
        page.frames(&metrics.frames)?;
        page.gauge("sessions", "Open sessions", registry.count())?;
        page.gauge("session_bytes", "Memory of all sessions, estimated", registry.bytes())?;
        page.gauge("jobs", "Jobs that run or wait in the pool", shared.compute.jobs() as u64)?;
        let most = shared.limits().jobs_max;
        page.gauge("jobs_limit", "Jobs that may run or wait in the pool", most)?;
        let waits = "Time from when a job came to the pool to when it was begun";
        page.times("pool_wait_seconds", waits, shared.compute.waits())?;
        let kinds = MemoryKind::ALL.iter().map(|kind| (kind.name(), memory.used(*kind)));
        page.gauges("memory_bytes", "Memory that is accounted for", "kind", kinds)?;
        let most = shared.limits().memory_bytes_max;
        page.gauge("memory_limit_bytes", "Memory that may be accounted for", most)?;
        let resident = resident_bytes().unwrap_or(0);
        page.gauge("memory_resident_bytes", "Memory that the process holds", resident)?;
        let refusals = "Times that there was no memory";
        page.counter("memory_refusals", refusals, memory.refusals())?;
        if let Some(refusals) = shared.quotas.refusals() {
            let names = QuotaKind::ALL.into_iter().map(QuotaKind::name);
            page.counters(
                "quota_refusals",
                "Times that a tenant had all it may",
                "quota",
                names.zip(refusals),
            )?;
        }
        if let Some(tenants) = shared.quotas.refusals_of_tenants() {
            let rows = tenants.iter().map(|(tenant, count)| (&**tenant, *count));
            let help = "Times that this tenant had all it may";
            page.counters("tenant_quota_refusals", help, "tenant", rows)?;
        }
        if let Some([answers, failures]) = shared.access.list_requests() {
            let rows = [("read", answers), ("failed", failures)];
            let help = "Times that a provider was asked for the keys of its tokens";
            page.counters("token_key_requests", help, "outcome", rows)?;
        }
        if let Some(keeper) = shared.keeper() {
            page.store(keeper)?;
        }
        if let Some(spans) = &shared.spans {
            let SpanCounts { sent, dropped, failed } = spans.sink().counts();
            let rows = [("sent", sent), ("dropped", dropped), ("failed", failed)];
            page.counters("spans", "Spans of calls by what became of them", "outcome", rows)?;
        }
        let leaves = "1 while the server drains, or is about to";
        page.gauge("draining", leaves, u64::from(shared.is_leaving()))?;
        let start = shared.start_time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let since = "When the server started, seconds since 1970";
        page.gauge("start_time_seconds", since, start.as_secs())?;
        let build = build();
        page.gauges("build", "1, for the version that runs", "version", [(&*build.version, 1)])
    }
}

/// Writes what is read.
struct Writer<'a, 'b>(&'a mut DescriptorEncoder<'b>);

impl Writer<'_, '_> {
    fn begin<'s>(
        &'s mut self,
        name: &'s str,
        help: &str,
        kind: MetricType,
    ) -> Result<MetricEncoder<'s>, fmt::Error> {
        self.0.encode_descriptor(name, help, None, kind)
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        ConstCounter::new(value).encode(self.begin(name, help, MetricType::Counter)?)
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) -> fmt::Result {
        ConstGauge::new(value).encode(self.begin(name, help, MetricType::Gauge)?)
    }

    fn gauges<'k>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        rows: impl IntoIterator<Item = (&'k str, u64)>,
    ) -> fmt::Result {
        let mut family = self.begin(name, help, MetricType::Gauge)?;
        for (key, value) in rows {
            ConstGauge::new(value).encode(family.encode_family(&[(label, key)])?)?;
        }
        Ok(())
    }

    fn counters<'k>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        rows: impl IntoIterator<Item = (&'k str, u64)>,
    ) -> fmt::Result {
        let mut family = self.begin(name, help, MetricType::Counter)?;
        for (key, value) in rows {
            ConstCounter::new(value).encode(family.encode_family(&[(label, key)])?)?;
        }
        Ok(())
    }

    fn questions(&mut self, all: &[QuestionMetrics]) -> fmt::Result {
        type Read = fn(&QuestionMetrics) -> &AtomicU64;
        let rows: [(&str, &str, Read); 8] = [
            ("questions_answered", "Questions that were answered in full", |of| &of.answered),
            ("questions_stopped", "Questions whose budget or deadline ran out", |of| &of.stopped),
            ("questions_refused", "Questions that got a status", |of| &of.refused),
            ("searches", "Searches, of which a question may have many", |of| &of.queries),
            ("exact_stages", "Searches that exact arithmetic decided", |of| &of.exact_stages),
            ("witness_hits", "Searches that a witness answered", |of| &of.witness_hits),
            ("steps", "Steps of searches", |of| &of.steps),
            ("supports", "Searches for a supporting vertex", |of| &of.supports),
        ];
        for (name, help, of) in rows {
            let mut family = self.begin(name, help, MetricType::Counter)?;
            for (asked, metrics) in QuestionKind::ALL.iter().zip(all) {
                let value = ConstCounter::new(of(metrics).load(Ordering::Relaxed));
                value.encode(family.encode_family(&[("question", asked.name())])?)?;
            }
        }
        Ok(())
    }

    fn store(&mut self, keeper: &Keeper) -> fmt::Result {
        let of = keeper.metrics();
        for (name, help, counter) in [
            ("store_writes", "Times that registrations were written", &of.writes),
            ("store_loads", "Registrations that were read", &of.loads),
            ("store_failures", "Times that the store did not answer", &of.failures),
            ("store_set_aside", "Registrations that were damaged", &of.set_aside),
            ("store_collected", "Deleted registrations that are gone", &of.collected),
        ] {
            self.counter(name, help, counter.load(Ordering::Relaxed))?;
        }
        let writes = "Time of a write, until it is on the disk";
        self.times("store_write_seconds", writes, &of.write_times)?;
        let loads = "Time of a read, with building what was read";
        self.times("store_load_seconds", loads, &of.load_times)?;
        let bytes = "Bytes of what is registered, and was deleted within a day";
        self.gauge("store_bytes", bytes, keeper.bytes())?;
        let limit = keeper.bytes_max();
        self.gauge("store_limit_bytes", "Bytes that it may have", limit)?;
        let answers = "1, or 0 when the store did not answer the last time";
        self.gauge("store_answers", answers, u64::from(!keeper.is_down()))
    }

    fn frames(&mut self, frames: &FrameMetrics) -> fmt::Result {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        for (name, help, counter) in [
            ("bodies_moved", "Bodies that frames have moved", &frames.bodies_moved),
            ("pairs_looked_at", "Pairs that frames have looked at", &frames.pairs_looked_at),
            ("pairs_asleep", "Near pairs whose verdicts had room left", &frames.pairs_asleep),
            ("pairs_expired", "Pairs whose verdicts had none left", &frames.pairs_expired),
        ] {
            self.counter(name, help, read(counter))?;
        }
        let by_time = frames.by_time.each_ref().map(read);
        self.histogram(["frame_seconds", "Time of a frame"], read(&frames.nanoseconds), by_time)
    }

    fn times(&mut self, name: &str, help: &str, times: &Times) -> fmt::Result {
        self.histogram([name, help], times.nanoseconds(), times.by_time())
    }

    /// What took so long together, and each at most as long as a bound and longer than the one
    /// before.
    fn histogram<const N: usize>(
        &mut self,
        [name, help]: [&str; 2],
        nanoseconds: u64,
        by_time: [u64; N],
    ) -> fmt::Result {
        let bounds = FRAME_TIMES.iter().map(|time| time.as_secs_f64()).chain([f64::INFINITY]);
        let buckets: Vec<_> = bounds.zip(by_time).collect();
        // The sum of the buckets, which may be ahead of a counter beside them.
        let count = buckets.iter().map(|(_, times)| times).sum();
        let seconds = nanoseconds as f64 * 1e-9;
        let mut encoder = self.begin(name, help, MetricType::Histogram)?;
        encoder.encode_histogram::<NoLabelSet>(seconds, count, &buckets, None)
    }
}

/// The pages as they are shown: one owner for as long as the server runs.
pub fn of(host: &SessionHost) -> Arc<dyn Pages> {
    Arc::new(OperatorPages::new(host))
}
