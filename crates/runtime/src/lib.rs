//! What a server owns: threads, clock, disk and metrics; its limits; and what is registered.
//!
//! Nothing of a network is here. Whose work is done and who gives way is decided by
//! [`principal::Principal`] and [`client::Client`], which the transport makes.

pub mod access;
pub mod archive;
pub mod behalf;
pub mod cells;
pub mod client;
pub mod clock;
pub mod compute;
pub mod deadline;
pub mod descriptors;
pub mod fresh;
pub mod latch;
pub mod memory;
pub mod metrics;
pub mod principal;
pub mod quotas;
pub mod request;
pub mod robots;
pub mod scene_cells;
pub mod sessions;
pub mod settings;
pub mod share;
pub mod signals;
pub mod spans;
pub mod store;
pub mod subscriptions;
pub mod tenants;
mod unique;
