//! Floor 3: wire to domain and back.
//!
//! A handler reads: convert (or say which field is wrong), admit, compute, convert back. Everything
//! that can go wrong is a [`status::Failure`], and one table there says what the client gets.

pub mod api;
pub mod convert;
pub mod serve;
pub mod services;
pub mod shared;
pub mod status;
pub mod transport;

pub use serve::serve;
