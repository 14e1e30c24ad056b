//! From the wire to the domain and back.
//!
//! A handler reads: convert (or say which field is wrong), admit, compute, convert back. Everything
//! that can go wrong is a [`status::Failure`], and one table there says what the client gets.
//!
//! The rooms in their order. Each uses only those above it in this list, and the services do not
//! know each other, but for `queries`, which hands claims to `certificates`, and `info`, which
//! counts the `sessions`:
//!
//! ```text
//! path        where in a request we are, and failures that name a field
//! status      the table from failures to statuses
//! convert/    wire to domain and back: needs the registered bodies and the limits, no server
//! transport/  connections, what surrounds every call, its time, replies that are not read yet
//! shared      what the services share: settings, store, compute pool, clock, counters
//! services/   certificates, polytopes, robots, sessions, queries, health, info
//! serve       puts the server together
//! ```

pub mod convert;
pub mod path;
pub mod serve;
pub mod services;
pub mod shared;
pub mod status;
pub mod transport;

pub use serve::serve;
