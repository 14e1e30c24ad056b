//! The services, and how they are put together.
//!
//! A handler reads: convert (or say which field is wrong), admit, compute, convert back. Everything
//! that can go wrong is a [`clearance_wire::status::Failure`], and one table there says what the
//! client gets.
//!
//! The rooms in their order. Each uses only those above it in this list, and the services do not
//! know each other, but for `queries`, which hands claims to `certificates`, and `info`, which
//! counts the `sessions`:
//!
//! ```text
//! shared      what the services share: settings, store, compute pool, clock, counters
//! services/   certificates, polytopes, robots, sessions, queries, health, info
//! pages       what operators are shown: whether the server lives and is ready, its metrics
//! protection  TLS and keys, and whether these suffice where the server listens
//! spans       who collects spans of calls
//! routes      all services as one
//! door        calls of this process itself, through the same services
//! serve       puts the server together
//! ```

pub mod door;
pub mod pages;
pub mod protection;
pub mod routes;
pub mod serve;
pub mod services;
pub mod shared;
pub mod spans;

pub use serve::serve;
