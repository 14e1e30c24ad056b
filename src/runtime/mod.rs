//! Floor 2: the only owner of threads, clock, disk and metrics.

pub mod cells;
pub mod client;
pub mod clock;
pub mod compute;
pub mod deadline;
pub mod descriptors;
pub mod latch;
pub mod memory;
pub mod metrics;
pub mod principal;
pub mod robots;
pub mod sessions;
pub mod settings;
pub mod share;
pub mod signals;
pub mod store;
pub mod subscriptions;
