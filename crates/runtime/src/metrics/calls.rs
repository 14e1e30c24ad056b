//! Calls by method and status, and how long those take that are answered at once.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, NativeHistogramConfig};
use std::time::Duration;

use crate::access::row_of;

/// What a method is called that is none: names that clients make up are not kept.
const OTHER: &str = "other";

/// Upper bounds of classic buckets, seconds.
const SECONDS: [f64; 12] =
    [1e-4, 2.5e-4, 1e-3, 2.5e-3, 1e-2, 2.5e-2, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0];

/// By how much bounds of native buckets grow.
const NATIVE_GROWTH: f64 = 1.1;

/// More native buckets than so many are joined.
const NATIVE_BUCKETS_MAX: usize = 160;

/// A call that has ended, or a stream that has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct CallLabels {
    /// As `package.Service/Method`.
    method: &'static str,
    /// The status, by its name in gRPC.
    code: &'static str,
}

/// A method.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct MethodLabel {
    /// As `package.Service/Method`.
    method: &'static str,
}

/// Counters of calls.
#[derive(Debug)]
pub struct CallMetrics {
    /// By method and code. Of a stream the code is the one that it began with.
    pub by_code: Family<CallLabels, Counter>,
    /// From headers to answer, of calls that have one answer.
    pub seconds: Family<MethodLabel, Histogram, fn() -> Histogram>,
    /// Connections that are open.
    pub connections: Gauge,
}

impl Default for CallMetrics {
    fn default() -> Self {
        let seconds: fn() -> Histogram = || {
            let native = NativeHistogramConfig::new(NATIVE_GROWTH).max_buckets(NATIVE_BUCKETS_MAX);
            Histogram::new_classic_and_native(SECONDS, native)
        };
        Self {
            by_code: Family::default(),
            seconds: Family::new_with_constructor(seconds),
            connections: Gauge::default(),
        }
    }
}

impl CallMetrics {
    /// A call at this path (`/package.Service/Method`) has ended, or begun to stream.
    pub fn count(&self, path: &str, code: &'static str, elapsed: Duration) {
        let row = row_of(path).map(|(_, row)| row);
        let method = row.map_or(OTHER, |row| row.name);
        self.by_code.get_or_create(&CallLabels { method, code }).inc();
        if row.is_some_and(|row| !row.streams) {
            let label = MethodLabel { method };
            self.seconds.get_or_create(&label).observe(elapsed.as_secs_f64());
        }
    }
}
