//! What a server is started with: its settings ([`options`]), and where its log lines go
//! ([`telemetry`]).
//!
//! The settings' names and defaults are `clearance_runtime::settings`; here is where their values
//! come from. A file, flags and the environment are read by code that takes long to compile, and a
//! change of a service does not compile it again.

pub mod options;
pub mod telemetry;
