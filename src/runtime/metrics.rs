//! Counters of what the server does.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::geometry::effort::Cost;

/// Counters that only grow.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Calls that were answered with a status other than OK.
    pub failures: AtomicU64,
    /// Calls that were answered.
    pub calls: AtomicU64,
    /// Frames of sessions that were answered.
    pub frames: AtomicU64,
    /// Questions put to geometry.
    pub queries: AtomicU64,
    /// Of these, left to exact arithmetic by the filter.
    pub exact_stages: AtomicU64,
    /// Of these, answered by a witness.
    pub witness_hits: AtomicU64,
    /// Steps of searches.
    pub steps: AtomicU64,
    /// Supporting-vertex searches.
    pub supports: AtomicU64,
}

impl Metrics {
    /// Adds what a query or a frame cost.
    pub fn add(&self, cost: &Cost) {
        let sums = [
            (&self.queries, cost.queries),
            (&self.exact_stages, cost.exact_stages),
            (&self.witness_hits, cost.witness_hits),
            (&self.steps, cost.steps),
            (&self.supports, cost.supports),
        ];
        for (counter, amount) in sums {
            counter.fetch_add(amount, Ordering::Relaxed);
        }
    }

    /// Every counter by name.
    pub fn rows(&self) -> [(&'static str, u64); 8] {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        [
            ("calls", read(&self.calls)),
            ("failures", read(&self.failures)),
            ("frames", read(&self.frames)),
            ("queries", read(&self.queries)),
            ("exact_stages", read(&self.exact_stages)),
            ("witness_hits", read(&self.witness_hits)),
            ("steps", read(&self.steps)),
            ("supports", read(&self.supports)),
        ]
    }
}
